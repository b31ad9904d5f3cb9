package dev.millrace.replication;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.millrace.testing.TestPostgres;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is written beside each object. */
class ManifestIT {
  @TempDir private Path folder;
  private DirectRuns runs;

  @BeforeEach
  void open() {
    runs = new DirectRuns(TestPostgres.createDatabase(), folder);
    runs.execute("CREATE SCHEMA shop");
  }

  @AfterEach
  void close() {
    runs.close();
  }

  private static JsonNode manifest(Path object) throws IOException {
    String name = object.getFileName().toString().replace(".parquet", ".json");
    return new JsonMapper()
        .readTree(Files.readString(object.resolveSibling("_manifest").resolve(name)));
  }

  @Test
  void itTellsWhatTheObjectHoldsAndHowItWasRead() throws IOException, NoSuchAlgorithmException {
    runs.execute(
        """
        CREATE TABLE shop.parcel (id bigint PRIMARY KEY, price numeric(12,2), at timestamptz);
        INSERT INTO shop.parcel SELECT i, i, now() - interval '1 hour' FROM generate_series(1, 100) i
        """);
    DirectRuns.Asked asked = DirectRuns.Asked.of("parcels", "shop.parcel", "at");
    DirectRuns.Run first = runs.run(asked);
    // Its key is in the first window; it comes late.
    runs.execute("INSERT INTO shop.parcel VALUES (101, 1, now() - interval '1 hour')");
    DirectRuns.Run second = runs.run(asked);

    List<Path> objects = runs.objects("shop.parcel");
    assertThat(objects).hasSize(2);
    JsonNode manifest = manifest(objects.get(0));
    byte[] bytes = Files.readAllBytes(objects.get(0));
    assertThat(manifest.path("rows").asLong()).isEqualTo(100);
    assertThat(manifest.path("bytes").asLong()).isEqualTo(bytes.length);
    assertThat(manifest.path("sha256").textValue())
        .isEqualTo(HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes)));
    assertThat(manifest.path("object").textValue())
        .isEqualTo("shop/parcel/" + objects.get(0).getFileName());
    assertThat(manifest.path("previous_object").isNull()).isTrue();
    assertThat(manifest.path("low").isNull()).isTrue();
    assertThat(manifest.path("late_above").isNull()).isTrue();
    assertThat(manifest.path("high").textValue()).isEqualTo(first.result().high());
    assertThat(manifest.path("pipeline").textValue()).isEqualTo("parcels");
    assertThat(manifest.path("run_id").textValue()).isEqualTo("run-1");
    assertThat(manifest.path("update_key").textValue()).isEqualTo("at");
    assertThat(manifest.path("snapshot").textValue()).matches("\\d+:\\d+");
    assertThat(manifest.path("look_back").textValue()).isEqualTo("PT24H");
    assertThat(manifest.path("columns").toString())
        .isEqualTo(
            """
            [{"name":"id","postgres":"bigint","parquet":"INT64"},\
            {"name":"price","postgres":"numeric(12,2)","parquet":"INT64 DECIMAL(12,2)"},\
            {"name":"at","postgres":"timestamp with time zone",\
            "parquet":"INT64 TIMESTAMP(MICROS,true)"}]""");

    JsonNode next = manifest(objects.get(1));
    assertThat(next.path("rows").asLong()).isEqualTo(1);
    assertThat(next.path("previous_object")).isEqualTo(manifest.path("object"));
    assertThat(next.path("low")).isEqualTo(manifest.path("high"));
    assertThat(next.path("late_above").textValue())
        .isEqualTo(Watermark.of(Watermark.instant(first.result().high()).minusSeconds(24 * 3600)));
    assertThat(next.path("high").textValue()).isEqualTo(second.result().high());
    assertThat(runs.value("SELECT count(*) FROM millrace.manifest")).isEqualTo("0");
  }

  @Test
  void aTableOfManyColumnsHasOneToo() throws IOException {
    String columns =
        IntStream.range(0, 1_500).mapToObj(i -> "c" + i + " int").collect(Collectors.joining(", "));
    runs.execute(
        "CREATE TABLE shop.wide (at timestamptz DEFAULT now() - interval '1 hour', %s)"
            .formatted(columns));
    runs.execute("INSERT INTO shop.wide (c0) VALUES (1)");
    runs.run(DirectRuns.Asked.of("wide", "shop.wide", "at"));

    assertThat(manifest(runs.objects("shop.wide").get(0)).path("columns")).hasSize(1_501);
  }

  @Test
  void readersOfParquetDoNotSeeIt() throws SQLException {
    runs.execute(
        """
        CREATE TABLE shop.parcel (id bigint PRIMARY KEY, at timestamptz);
        INSERT INTO shop.parcel VALUES (1, now() - interval '1 hour')
        """);
    runs.run(DirectRuns.Asked.of("parcels", "shop.parcel", "at"));

    for (String pattern : List.of("shop/parcel/*.parquet", "**/*.parquet")) {
      try (Connection duck = DriverManager.getConnection("jdbc:duckdb:");
          Statement statement = duck.createStatement();
          ResultSet row =
              statement.executeQuery(
                  "SELECT count(*) FROM read_parquet('%s/%s')".formatted(folder, pattern))) {
        row.next();
        assertThat(row.getLong(1)).as(pattern).isEqualTo(1);
      }
    }
  }
}
