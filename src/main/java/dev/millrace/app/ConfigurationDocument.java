package dev.millrace.app;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import com.fasterxml.jackson.dataformat.yaml.YAMLParser;
import dev.millrace.app.ConfigurationNode.Kind;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.yaml.snakeyaml.error.MarkedYAMLException;

/**
 * Reads one YAML document into nodes that know their lines: keys given twice, aliases, tags and
 * further documents are problems.
 *
 * <p>Problems never quote the file, as a value in it may be a secret. Not thread-safe; one object
 * reads one file.
 */
final class ConfigurationDocument {
  private static final YAMLFactory YAML = new YAMLFactory();

  private final ConfigurationProblems problems;

  ConfigurationDocument(ConfigurationProblems problems) {
    this.problems = problems;
  }

  /** Returns the root, or null when a problem says why there is none. */
  ConfigurationNode.Fields parse(byte[] content) {
    String text;
    try {
      text = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(content)).toString();
    } catch (CharacterCodingException exception) {
      problems.add(1, "the file is not UTF-8 text");
      return null;
    }
    try (YAMLParser parser = YAML.createParser(text)) {
      if (parser.nextToken() == null) {
        problems.add(1, "the file is empty; at least postgres and state are required");
        return null;
      }
      ConfigurationNode root = node(parser, "", parser.currentTokenLocation().getLineNr());
      if (parser.nextToken() != null) {
        problems.add(
            parser.currentTokenLocation().getLineNr(), "a second document; only one is allowed");
      }
      if (root instanceof ConfigurationNode.Fields fields) {
        return fields;
      }
      problems.add(root.line(), "the file must hold settings, written as key: value");
      return null;
    } catch (IOException exception) {
      syntaxProblem(exception);
      return null;
    }
  }

  private ConfigurationNode node(YAMLParser parser, String path, int line) throws IOException {
    if (parser.isCurrentAlias()) {
      problems.add(line, path + " is an alias (*name); write the value itself");
    } else if (parser.getTypeId() != null) {
      problems.add(line, path + " has a tag (!name); write the value without it");
    }
    JsonToken token = parser.currentToken();
    if (token == JsonToken.START_OBJECT) {
      return fields(parser, path, line);
    }
    if (token == JsonToken.START_ARRAY) {
      return items(parser, path, line);
    }
    if (token == JsonToken.VALUE_NULL) {
      return new ConfigurationNode.Scalar(line, Kind.NOTHING, "");
    }
    if (token.isBoolean()) {
      return new ConfigurationNode.Scalar(line, Kind.FLAG, parser.getText());
    }
    Kind kind = token.isNumeric() ? Kind.NUMBER : Kind.TEXT;
    return new ConfigurationNode.Scalar(line, kind, parser.getText());
  }

  private ConfigurationNode fields(YAMLParser parser, String path, int line) throws IOException {
    Map<String, ConfigurationNode> fields = new LinkedHashMap<>();
    while (parser.nextToken() == JsonToken.FIELD_NAME) {
      String key = parser.currentName();
      int keyLine = parser.currentTokenLocation().getLineNr();
      String keyPath = path.isEmpty() ? key : path + "." + key;
      parser.nextToken();
      ConfigurationNode value = node(parser, keyPath, keyLine);
      ConfigurationNode first = fields.putIfAbsent(key, value);
      if (first != null) {
        problems.add(keyLine, keyPath + " is given twice, first in line " + first.line());
      }
    }
    return new ConfigurationNode.Fields(line, fields);
  }

  private ConfigurationNode items(YAMLParser parser, String path, int line) throws IOException {
    List<ConfigurationNode> items = new ArrayList<>();
    while (parser.nextToken() != JsonToken.END_ARRAY) {
      items.add(node(parser, path, parser.currentTokenLocation().getLineNr()));
    }
    return new ConfigurationNode.Items(line, items);
  }

  private void syntaxProblem(IOException exception) {
    // The messages of both libraries quote the line, which may hold a secret in clear.
    if (exception.getCause() instanceof MarkedYAMLException marked
        && marked.getProblemMark() != null) {
      problems.add(
          marked.getProblemMark().getLine() + 1,
          "no YAML: "
              + marked.getProblem()
              + " (inside { } a reference needs quotes: \"${env:NAME}\")");
      return;
    }
    int line = 1;
    if (exception instanceof JsonProcessingException processing
        && processing.getLocation() != null) {
      line = Math.max(1, processing.getLocation().getLineNr());
    }
    problems.add(line, "no YAML that can be read");
  }
}
