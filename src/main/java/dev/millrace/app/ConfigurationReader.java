package dev.millrace.app;

import dev.millrace.app.ConfigurationNode.Fields;
import dev.millrace.app.ConfigurationNode.Items;
import dev.millrace.app.ConfigurationNode.Kind;
import dev.millrace.app.ConfigurationNode.Scalar;
import dev.millrace.app.ConfigurationSetting.Presence;
import dev.millrace.failure.NearestName;
import dev.millrace.failure.Redactor;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Reads values out of the nodes of a configuration file: refuses unknown keys, holds each value
 * against its type, resolves references and puts defaults in.
 *
 * <p>A problem is collected and the reading goes on, so a person sees all of them. Not thread-safe.
 */
final class ConfigurationReader {
  private static final Pattern NAME = Pattern.compile("[a-z][a-z0-9_-]{0,62}");
  private static final Pattern REFERENCE = Pattern.compile("\\$\\{(env|file):([^}]+)\\}");
  private static final String NO_REFERENCE =
      "has ${ in it: a reference is ${env:NAME} or ${file:PATH} and the whole value";
  private static final int MOST_BYTES_OF_A_FILE = 65_536;
  private static final int MOST_CHARACTERS_SHOWN = 80;

  /** A section of the file; an absent one has no fields. */
  record Section(String path, String pattern, boolean present, int line, Fields fields) {
    String pathOf(ConfigurationSetting setting) {
      return path.isEmpty() ? setting.key() : path + "." + setting.key();
    }

    boolean has(ConfigurationSetting setting) {
      return fields.fields().containsKey(setting.key());
    }
  }

  /** A value whose type is right, with what may be shown of it. */
  record Value(String path, int line, String text, String shown) {}

  /** Makes a typed value, or tells why not. */
  interface Conversion<T> {
    T convert(Value value) throws UnusableException;
  }

  /** The value can't be used; the message goes on after the path of the setting. */
  static final class UnusableException extends Exception {
    private static final long serialVersionUID = 1L;

    UnusableException(String message) {
      super(message);
    }
  }

  private final ConfigurationProblems problems;
  private final Path folder;
  private final Map<String, String> environment;

  /**
   * Makes a reader.
   *
   * @param folder what relative paths are relative to
   */
  ConfigurationReader(
      ConfigurationProblems problems, Path folder, Map<String, String> environment) {
    this.problems = problems;
    this.folder = folder;
    this.environment = environment;
  }

  /** Returns the whole file as a section, after all of its keys have been checked. */
  Section root(Fields fields) {
    checkKeys(fields, "", "");
    return new Section("", "", true, 1, fields);
  }

  /** Returns a section below another one. */
  Section section(Section parent, String key) {
    String path = parent.path().isEmpty() ? key : parent.path() + "." + key;
    String pattern = parent.pattern().isEmpty() ? key : parent.pattern() + "." + key;
    return section(parent, key, path, pattern);
  }

  /** Returns the named sections below a section, such as each connection below {@code postgres}. */
  Map<String, Section> named(Section parent) {
    Map<String, Section> sections = new LinkedHashMap<>();
    for (String name : parent.fields().fields().keySet()) {
      sections.put(
          name, section(parent, name, parent.path() + "." + name, parent.pattern() + ".*"));
    }
    return sections;
  }

  private static Section section(Section parent, String key, String path, String pattern) {
    ConfigurationNode node = parent.fields().fields().get(key);
    if (node instanceof Fields fields) {
      return new Section(path, pattern, true, fields.line(), fields);
    }
    return new Section(path, pattern, node != null, parent.line(), new Fields(1, Map.of()));
  }

  /** Adds a problem of a setting, told as a sentence that begins with its path. */
  void problem(Section section, ConfigurationSetting setting, String message) {
    ConfigurationNode node = section.fields().fields().get(setting.key());
    int line = node == null ? section.line() : node.line();
    problems.add(line, section.pathOf(setting) + " " + message);
  }

  /** Adds a problem of a part of a setting, told as a sentence that begins with its path. */
  void problem(ConfigurationNode node, String path, String message) {
    problems.add(node.line(), path + " " + message);
  }

  /** Adds a problem of a whole section. */
  void problem(Section section, String message) {
    problems.add(section.line(), section.path() + " " + message);
  }

  /**
   * Returns the value of a setting, its default, or nothing when it is absent without a default or
   * when a problem was added.
   */
  <T> Optional<T> read(
      Section section, ConfigurationSetting setting, Conversion<? extends T> conversion) {
    Optional<Value> value = value(section, setting);
    if (value.isEmpty()) {
      return Optional.empty();
    }
    try {
      return Optional.of(conversion.convert(value.get()));
    } catch (UnusableException exception) {
      problems.add(value.get().line(), value.get().path() + " " + exception.getMessage());
      return Optional.empty();
    }
  }

  /** Returns the values of a list in their order; none where it is absent. */
  <T> List<T> readAll(
      Section section, ConfigurationSetting setting, Conversion<? extends T> conversion) {
    List<T> values = new ArrayList<>();
    if (!(section.fields().fields().get(setting.key()) instanceof Items list)) {
      return values; // checkKeys has told it, where it is no list.
    }
    String path = section.pathOf(setting);
    for (ConfigurationNode item : list.items()) {
      if (!(item instanceof Scalar scalar) || scalar.kind() == Kind.NOTHING) {
        continue;
      }
      try {
        values.add(conversion.convert(ordinary(path, setting, scalar)));
      } catch (UnusableException exception) {
        problems.add(item.line(), path + " " + exception.getMessage());
      }
    }
    return values;
  }

  /**
   * Returns a text that is taken as it stands, whatever YAML takes it for, or what it refers to;
   * nothing when a problem was added.
   */
  Optional<String> verbatim(String path, ConfigurationNode node) {
    if (!(node instanceof Scalar scalar) || scalar.kind() == Kind.NOTHING) {
      problems.add(node.line(), path + " must be one value");
      return Optional.empty();
    }
    try {
      Matcher reference = REFERENCE.matcher(scalar.text());
      String text = reference.matches() ? resolve(reference) : scalar.text();
      if (!reference.matches() && text.contains("${")) {
        throw new UnusableException(NO_REFERENCE);
      }
      if (text.indexOf('\0') >= 0) {
        throw new UnusableException("must not hold a NUL character");
      }
      return Optional.of(text);
    } catch (UnusableException exception) {
      problems.add(node.line(), path + " " + exception.getMessage());
      return Optional.empty();
    }
  }

  private Optional<Value> value(Section section, ConfigurationSetting setting) {
    String path = section.pathOf(setting);
    ConfigurationNode node = section.fields().fields().get(setting.key());
    if (node == null) {
      if (setting.presence() == Presence.REQUIRED) {
        problems.add(section.line(), path + " is required");
      }
      return Optional.ofNullable(setting.defaultText())
          .map(text -> new Value(path, section.line(), text, text));
    }
    if (!(node instanceof Scalar scalar) || scalar.kind() == Kind.NOTHING) {
      return Optional.empty(); // checkKeys has told it.
    }
    try {
      return Optional.of(
          setting.type() == ConfigurationSetting.Type.SECRET
              ? secret(path, scalar)
              : ordinary(path, setting, scalar));
    } catch (UnusableException exception) {
      problems.add(node.line(), path + " " + exception.getMessage());
      return Optional.empty();
    }
  }

  private Value secret(String path, Scalar scalar) throws UnusableException {
    Matcher reference = REFERENCE.matcher(scalar.text());
    if (scalar.kind() != Kind.TEXT || !reference.matches()) {
      throw new UnusableException(
          "must be a reference, ${env:NAME} or ${file:PATH}; a secret is never written here");
    }
    String text = resolve(reference);
    if (text.length() < Redactor.LEAST_SECRET_LENGTH) {
      throw new UnusableException(
          "is too short in %s: a secret has at least %d characters"
              .formatted(scalar.text(), Redactor.LEAST_SECRET_LENGTH));
    }
    Redactor.register(text);
    return new Value(path, scalar.line(), text, scalar.text());
  }

  private Value ordinary(String path, ConfigurationSetting setting, Scalar scalar)
      throws UnusableException {
    Matcher reference = REFERENCE.matcher(scalar.text());
    if (scalar.kind() == Kind.TEXT && reference.matches()) {
      String text = resolve(reference);
      checkText(text);
      return new Value(path, scalar.line(), text, "what " + scalar.text() + " holds");
    }
    Kind expected =
        switch (setting.type()) {
          case NUMBER -> Kind.NUMBER;
          case FLAG -> Kind.FLAG;
          case ADDRESS, CHOICE, CONDITIONS, DURATION, LIST, PATH, SECRET, TEXT, URL -> Kind.TEXT;
        };
    if (scalar.kind() != expected) {
      throw new UnusableException(
          switch (expected) {
            case NUMBER -> "must be a number, without quotes";
            case FLAG -> "must be true or false, without quotes";
            case TEXT, NOTHING -> "must be text; put it in quotes";
          });
    }
    if (scalar.text().contains("${")) {
      throw new UnusableException(NO_REFERENCE);
    }
    checkText(scalar.text());
    String text = scalar.text();
    String shown =
        text.length() <= MOST_CHARACTERS_SHOWN
            ? text
            : text.substring(0, MOST_CHARACTERS_SHOWN) + "…";
    return new Value(path, scalar.line(), text, shown);
  }

  private static void checkText(String text) throws UnusableException {
    if (text.codePoints().anyMatch(Character::isISOControl)) {
      throw new UnusableException("must be one line without control characters");
    }
    if (!text.equals(text.strip())) {
      throw new UnusableException("must not begin or end with a blank");
    }
  }

  private String resolve(Matcher reference) throws UnusableException {
    String text =
        reference.group(1).equals("env")
            ? environmentVariable(reference.group(2))
            : file(reference.group(2));
    if (text.isEmpty()) {
      throw new UnusableException("refers to " + reference.group() + ", which is empty");
    }
    return text;
  }

  private String environmentVariable(String name) throws UnusableException {
    String text = environment.get(name);
    if (text == null) {
      throw new UnusableException(
          "refers to ${env:%s}, but the environment variable %s is not set".formatted(name, name));
    }
    return text;
  }

  private String file(String name) throws UnusableException {
    String reference = "refers to ${file:" + name + "}, ";
    try {
      Path path = folder.resolve(name);
      if (!Files.isRegularFile(path) && Files.exists(path)) {
        throw new UnusableException(reference + "which is no file");
      }
      byte[] content;
      try (var stream = Files.newInputStream(path)) {
        content = stream.readNBytes(MOST_BYTES_OF_A_FILE + 1);
      }
      if (content.length > MOST_BYTES_OF_A_FILE) {
        throw new UnusableException(reference + "but the file is longer than 64 KiB");
      }
      String text = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(content)).toString();
      if (text.endsWith("\r\n")) {
        return text.substring(0, text.length() - 2);
      }
      return text.endsWith("\n") ? text.substring(0, text.length() - 1) : text;
    } catch (NoSuchFileException exception) {
      throw new UnusableException(reference + "but there is no such file");
    } catch (AccessDeniedException exception) {
      throw new UnusableException(reference + "but this user may not read the file");
    } catch (CharacterCodingException exception) {
      throw new UnusableException(reference + "but the file is not UTF-8 text");
    } catch (InvalidPathException exception) {
      throw new UnusableException(reference + "which is no path");
    } catch (IOException exception) {
      throw new UnusableException(reference + "but the file can't be read");
    }
  }

  private void checkKeys(Fields fields, String path, String pattern) {
    for (Map.Entry<String, ConfigurationNode> field : fields.fields().entrySet()) {
      String key = field.getKey();
      ConfigurationNode node = field.getValue();
      String fieldPath = path.isEmpty() ? key : path + "." + key;
      String fieldPattern = pattern.isEmpty() ? key : pattern + "." + key;
      if (ConfigurationSetting.isSection(pattern + ".*")) {
        fieldPattern = pattern + ".*";
        if (!NAME.matcher(key).matches()) {
          problems.add(
              node.line(),
              fieldPath
                  + " is no name: a lower-case letter, then at most 62 lower-case letters, digits,"
                  + " _ or -");
        }
      } else if (!ConfigurationSetting.isKnown(fieldPattern)) {
        problems.add(
            node.line(),
            fieldPath + " is not a setting; did you mean " + nearest(key, pattern) + "?");
        continue;
      }
      checkShape(node, fieldPath, fieldPattern);
    }
  }

  private void checkShape(ConfigurationNode node, String path, String pattern) {
    boolean section = ConfigurationSetting.isSection(pattern);
    if (node instanceof Scalar scalar && scalar.kind() == Kind.NOTHING) {
      problems.add(node.line(), path + " has no value; give it one or remove the line");
    } else if (section && node instanceof Fields fields) {
      checkKeys(fields, path, pattern);
    } else if (section) {
      problems.add(node.line(), path + " must hold settings, written as key: value");
    } else {
      switch (ConfigurationSetting.ofPath(pattern).orElseThrow().type()) {
        case LIST -> checkItems(node, path);
        case CONDITIONS -> {
          // RowFilterReader tells what is wrong with them.
        }
        case ADDRESS, CHOICE, DURATION, FLAG, NUMBER, PATH, SECRET, TEXT, URL -> {
          if (!(node instanceof Scalar)) {
            problems.add(node.line(), path + " must be one value, not a list or settings");
          }
        }
      }
    }
  }

  private void checkItems(ConfigurationNode node, String path) {
    if (!(node instanceof Items list)) {
      problems.add(node.line(), path + " must be a list, written as [one, another]");
      return;
    }
    for (ConfigurationNode item : list.items()) {
      if (!(item instanceof Scalar scalar) || scalar.kind() == Kind.NOTHING) {
        problems.add(item.line(), path + " must hold texts only");
      }
    }
  }

  private static String nearest(String key, String section) {
    List<String> siblings = ConfigurationSetting.keysBelow(section);
    if (!siblings.contains(normal(key))) {
      // The right word may be in the wrong place.
      for (ConfigurationSetting setting : ConfigurationSetting.values()) {
        if (setting.key().equals(normal(key))) {
          return setting.path().replace("*", "<name>");
        }
      }
    }
    return NearestName.of(normal(key), siblings);
  }

  private static String normal(String key) {
    return key.toLowerCase(Locale.ROOT).replace('-', '_');
  }

  /** Returns the words joined for a message: {@code a, b or c}. */
  static String anyOf(List<String> words) {
    List<String> first = new ArrayList<>(words.subList(0, words.size() - 1));
    return String.join(", ", first) + " or " + words.get(words.size() - 1);
  }

  Path resolvePath(Value value) throws UnusableException {
    try {
      return folder.resolve(value.text()).normalize();
    } catch (InvalidPathException exception) {
      throw new UnusableException("must be a path, not " + value.shown());
    }
  }
}
