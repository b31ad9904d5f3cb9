package dev.millrace.app;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.failure.ErrorCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DocumentationTest {
  private static final Pattern YAML = Pattern.compile("```yaml\n(.*?)```", Pattern.DOTALL);

  @TempDir Path folder;

  @Test
  void theConfigurationsTablesAreThoseOfTheCode() throws IOException {
    List<String> documented = new ArrayList<>();
    for (List<String> row : rows("docs/configuration.md")) {
      documented.add(String.join(" ", row.subList(0, 3)));
      assertThat(row).as("columns of " + row.get(0)).hasSize(5).noneMatch(String::isEmpty);
    }

    assertThat(documented)
        .containsExactlyInAnyOrderElementsOf(
            Stream.of(ConfigurationSetting.values()).map(DocumentationTest::row).toList());
  }

  private static String row(ConfigurationSetting setting) {
    String standard =
        switch (setting.presence()) {
          case REQUIRED -> "required";
          case OPTIONAL -> "none";
          case DEFAULT -> "`" + setting.defaultText() + "`";
        };
    return "`%s` %s %s"
        .formatted(
            setting.path().replace("*", "<name>"),
            setting.type().name().toLowerCase(Locale.ROOT),
            standard);
  }

  @Test
  void secretsInTheTablesHaveReferencesAsExamples() throws IOException {
    for (List<String> row : rows("docs/configuration.md")) {
      assertThat(row.get(4).matches("`\\$\\{(env|file):[^}]+}`"))
          .as("the example of " + row.get(0) + " is a reference")
          .isEqualTo(row.get(1).equals("secret"));
    }
  }

  @Test
  void theExampleOfTheConfigurationIsOne() throws IOException {
    Matcher example = YAML.matcher(Files.readString(Path.of("docs/configuration.md")));
    assertThat(example.find()).isTrue();
    Files.writeString(folder.resolve("webhook"), "https://hooks.example/services/T1/B1/doc\n");
    Path file = folder.resolve("millrace.yaml");
    Files.writeString(file, example.group(1).replace("/run/secrets/slack-webhook", "webhook"));

    Configuration configuration =
        Configuration.load(file, Map.of("APPDB_PASSWORD", "documented-password"));

    assertThat(configuration.postgres()).containsOnlyKeys("appdb");
    assertThat(configuration.lakes()).containsOnlyKeys("lake");
  }

  @Test
  void theExampleOfRowFiltersIsOne() throws IOException {
    Matcher example = YAML.matcher(Files.readString(Path.of("docs/configuration.md")));
    assertThat(example.find()).isTrue();
    assertThat(example.find()).as("a second example").isTrue();
    Path file = folder.resolve("millrace.yaml");
    Files.writeString(
        file,
        "state: appdb\n"
            + example
                .group(1)
                .replace("appdb:\n", "appdb:\n    host: h\n    database: d\n    user: u\n"));

    assertThat(Configuration.load(file, Map.of()).postgres().get("appdb").filters()).hasSize(2);
  }

  @Test
  void theErrorsTableIsThatOfTheCode() throws IOException {
    List<String> documented = new ArrayList<>();
    for (List<String> row : rows("docs/errors.md")) {
      documented.add(row.get(0) + " " + row.get(1));
      assertThat(row).as("columns of " + row.get(0)).hasSize(4).noneMatch(String::isEmpty);
    }

    assertThat(documented)
        .containsExactlyElementsOf(
            Stream.of(ErrorCode.values())
                .map(code -> "`" + code + "` " + (code.retryable() ? "yes" : "no"))
                .toList());
  }

  /** Returns the cells of each row whose first cell is code. */
  private static List<List<String>> rows(String file) throws IOException {
    return Files.readAllLines(Path.of(file)).stream()
        .filter(line -> line.startsWith("| `"))
        .map(line -> Arrays.asList(line.substring(2, line.length() - 2).split(" \\| ", -1)))
        .toList();
  }
}
