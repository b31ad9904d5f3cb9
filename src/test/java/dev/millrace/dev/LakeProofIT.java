package dev.millrace.dev;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.parquet.CopyEncoder;
import dev.millrace.parquet.ParquetTable;
import dev.millrace.postgres.Catalogue;
import dev.millrace.postgres.Postgres;
import dev.millrace.postgres.Relation;
import dev.millrace.postgres.TableName;
import dev.millrace.testing.TestPostgres;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Our writer's files against the tables that they come from, and against tables that changed. */
class LakeProofIT {
  private static final int ORDERS = 2000;

  private final String database = TestPostgres.createDatabase();
  private final List<Path> files = new ArrayList<>();

  @TempDir Path folder;
  private Connection connection;

  @BeforeEach
  void makeTables() throws SQLException {
    connection = TestPostgres.server().getDatabase("postgres", database).getConnection();
    DemoTables.create(connection, ORDERS);
  }

  @AfterEach
  void disconnect() throws SQLException {
    connection.close();
  }

  @Test
  void theNewestVersionsEqualEachTableOfTheDemo() throws Exception {
    for (String table : DemoTables.NAMES) {
      files.clear();
      write(table, "true");
      LakeProof.Outcome outcome = prove(table);
      assertThat(outcome.difference()).isEmpty();
      assertThat(outcome.rows()).isEqualTo(count(table)).isEqualTo(outcome.versions());
    }
    DemoTables.change(connection);
    files.clear();
    write("shop.orders", "updated_at < now() - interval '30 minutes'");
    write("shop.orders", "updated_at >= now() - interval '30 minutes'");
    assertThat(prove("shop.orders").difference()).isEmpty();
  }

  @Test
  void anOlderVersionBesideTheNewestIsNoDifference() throws Exception {
    write("shop.orders", "true");
    DemoTables.change(connection);
    assertThat(prove("shop.orders").difference()).isPresent();
    write("shop.orders", "updated_at >= now() - interval '30 minutes'");
    LakeProof.Outcome outcome = prove("shop.orders");
    assertThat(outcome.difference()).isEmpty();
    assertThat(outcome.versions()).isGreaterThan(outcome.rows());
  }

  @Test
  void aValueOfEachColumnThatDiffersIsFound() throws Exception {
    write("shop.orders", "true");
    for (String change :
        List.of(
            "customer_id = customer_id + 1",
            "reference = gen_random_uuid()",
            "status = status || ' '",
            "total = total + 0.01",
            "is_gift = NOT is_gift",
            "note = NULL",
            "items = items || '[]'::jsonb || '[null]'",
            "ordered_on = ordered_on + 1",
            "shipped_at = shipped_at + interval '1 microsecond'",
            "updated_at = updated_at + interval '1 microsecond'")) {
      // Row 1995 has an empty note and a time of shipping.
      String set = "UPDATE shop.orders SET " + change + " WHERE id = 1995";
      assertThat(afterChange(set).difference().orElse(""))
          .as(change)
          .contains("the row with id 1995 has " + change.substring(0, change.indexOf(' ')));
    }
  }

  @Test
  void aRowMoreAndARowLessAreFound() throws Exception {
    write("shop.orders", "true");
    assertThat(afterChange("DELETE FROM shop.orders WHERE id = 2000").difference().orElse(""))
        .contains("the lake has a row more: id '2000'");
    assertThat(
            afterChange("UPDATE shop.orders SET id = 2001 WHERE id = 2000").difference().orElse(""))
        .contains("the lake has a row more: id '2000'");
  }

  @Test
  void aVersionThatIsThereTwiceIsFound() throws Exception {
    write("shop.orders", "true");
    write("shop.orders", "id = 7");
    assertThat(prove("shop.orders").difference().orElse("")).contains("a row more: id '7'");
  }

  @Test
  void aColumnMoreOrNoObjectAreFound() throws Exception {
    assertThat(prove("shop.orders").difference().orElse("")).contains("no object");
    write("shop.orders", "true");
    assertThat(afterChange("ALTER TABLE shop.orders ADD extra int").difference().orElse(""))
        .contains("extra");
  }

  /** Proves over a change in the same transaction, which the proof rolls back. */
  private LakeProof.Outcome afterChange(String sql) throws SQLException {
    connection.setAutoCommit(false);
    try (Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
    return prove("shop.orders");
  }

  private LakeProof.Outcome prove(String table) throws SQLException {
    try (LakeProof proof = LakeProof.open(folder)) {
      return proof.prove(connection, table, DemoTables.KEY, DemoTables.UPDATE_KEY, files);
    }
  }

  private long count(String table) throws SQLException {
    return DemoTables.counts(connection).get(table);
  }

  private void write(String table, String condition) throws IOException {
    Path file = folder.resolve(files.size() + ".parquet");
    TableName name = TableName.parse(table);
    try (Postgres postgres = TestPostgres.connect(database);
        FileChannel channel =
            FileChannel.open(
                file,
                StandardOpenOption.CREATE,
                StandardOpenOption.WRITE,
                StandardOpenOption.TRUNCATE_EXISTING)) {
      postgres.read(
          session -> {
            Relation relation = new Catalogue().relation(session, name);
            try (ParquetTable parquet =
                new ParquetTable(
                    relation.columns(),
                    0,
                    Map.of(),
                    bytes -> {
                      try {
                        while (bytes.hasRemaining()) {
                          channel.write(bytes);
                        }
                      } catch (IOException e) {
                        throw new UncheckedIOException(e);
                      }
                    })) {
              CopyEncoder encoder = parquet.encoder();
              encoder.start();
              postgres.copy(
                  session, "SELECT * FROM " + table + " WHERE " + condition, encoder::accept);
              return parquet.finish();
            }
          });
    }
    files.add(file);
  }
}
