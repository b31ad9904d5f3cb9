package dev.millrace.dev;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import dev.millrace.failure.MillraceException;
import dev.millrace.testing.TestStack;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.s3.S3Client;

class EmbeddedStackIT {
  @TempDir Path folder;

  @Test
  void itsConfigurationNamesWhatRunsAndHoldsNoSecret() throws Exception {
    EmbeddedStack stack = TestStack.stack();
    String text = Files.readString(TestStack.configuration());
    JsonNode configuration = new YAMLMapper().readTree(text);
    assertThat(configuration.at("/temporal/address").asText())
        .isEqualTo(TestStack.temporal().address());
    assertThat(configuration.at("/postgres/appdb/port").asInt())
        .isEqualTo(TestStack.postgres().port());
    assertThat(configuration.at("/postgres/appdb/password").asText())
        .isEqualTo("${file:" + TestStack.postgres().passwordFile() + "}");
    assertThat(configuration.at("/lakes/lake/endpoint").asText())
        .isEqualTo(TestStack.s3().endpoint().toString());
    assertThat(configuration.at("/state").asText()).isEqualTo("appdb");
    assertThat(configuration.at("/stack").asText()).isEqualTo("test");
    stack
        .clickHouse()
        .ifPresent(
            server -> {
              JsonNode connection = configuration.at("/clickhouse/clickhouse");
              assertThat(connection.at("/port").asInt()).isEqualTo(server.httpPort());
              assertThat(connection.at("/password").asText())
                  .isEqualTo("${file:" + server.passwordFile() + "}");
              assertThat(text).doesNotContain(server.password(), server.adminPassword());
            });
    assertThat(text)
        .doesNotContain(TestStack.postgres().password())
        .doesNotContain(stack.accessKeyId())
        .doesNotContain(stack.secretAccessKey());
  }

  @Test
  void itsBucketIsThereForItsKeys() {
    EmbeddedStack stack = TestStack.stack();
    try (S3Client client =
        S3Client.builder()
            .endpointOverride(stack.s3().endpoint())
            .region(Region.of(EmbeddedStack.REGION))
            .forcePathStyle(true)
            .credentialsProvider(
                StaticCredentialsProvider.create(
                    AwsBasicCredentials.create(stack.accessKeyId(), stack.secretAccessKey())))
            .build()) {
      assertThat(client.listBuckets().buckets())
          .extracting(bucket -> bucket.name())
          .contains(EmbeddedStack.BUCKET);
    }
  }

  @Test
  void attachedPartsAreClosedFirstAndATemporaryFolderIsRemoved() {
    List<String> closed = new ArrayList<>();
    EmbeddedStack stack =
        EmbeddedStack.start(
            new EmbeddedStack.Options(
                EmbeddedStack.Kind.TEST, Optional.empty(), 0, 0, 0, 0, 0, withoutCli()),
            told -> {});
    stack.attach(() -> closed.add("worker"));
    stack.attach(() -> closed.add("ready file, after " + stack.postgres().ended().isDone()));
    assertThat(stack.dataDirectory()).exists();
    stack.close();
    assertThat(closed).containsExactly("ready file, after false", "worker");
    assertThat(stack.dataDirectory()).doesNotExist();
    assertThat(stack.postgres().ended()).succeedsWithin(Duration.ofMinutes(1));
    stack.attach(() -> closed.add("late"));
    assertThat(closed).contains("late");
  }

  @Test
  void aPartThatCanNotStartEndsTheOthersAndWhatCanNotBeHadIsToldInOneLineEach() throws Exception {
    List<String> told = Collections.synchronizedList(new ArrayList<>());
    Path data = folder.resolve("data");
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      EmbeddedStack.Options options =
          new EmbeddedStack.Options(
              EmbeddedStack.Kind.TEST,
              Optional.of(data),
              taken.getLocalPort(),
              0,
              0,
              0,
              0,
              withoutCli());
      assertThatThrownBy(() -> EmbeddedStack.start(options, told::add).close())
          .isInstanceOf(MillraceException.class)
          .hasMessageContaining("--postgres-port");
    }
    EmbeddedStack.Options options =
        new EmbeddedStack.Options(
            EmbeddedStack.Kind.TEST, Optional.of(data), 0, 0, 0, 0, 0, withoutCli());
    told.clear();
    try (EmbeddedStack stack = EmbeddedStack.start(options, told::add)) {
      assertThat(stack.clickHouse()).isEmpty();
      assertThat(new YAMLMapper().readTree(stack.configuration().toFile()).has("clickhouse"))
          .isFalse();
    }
    assertThat(told).filteredOn(line -> line.contains("test server in this JVM")).hasSize(1);
    assertThat(told)
        .filteredOn(line -> line.contains("ClickHouse: none can be had"))
        .singleElement()
        .asString()
        .contains("MILLRACE_NPM is off", "24 or newer on the PATH")
        .doesNotContain("\n");
    assertThat(data).exists();
  }

  private Map<String, String> withoutCli() {
    return Map.of(
        "PATH",
        "",
        "MILLRACE_PIP",
        "off",
        "MILLRACE_NPM",
        "off",
        "MILLRACE_CACHE",
        folder.toString());
  }
}
