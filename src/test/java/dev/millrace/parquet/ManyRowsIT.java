package dev.millrace.parquet;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.testing.TestPostgres;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.Statement;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Case 37: a table that is far larger than the heap. */
class ManyRowsIT {
  private static final int ROWS = 2_000_000;

  @TempDir private Path folder;

  @Test
  void twoMillionRowsPassThroughAHeapOf256Mebibytes() throws Exception {
    String database = TestPostgres.createDatabase();
    TestPostgres.execute(
        database,
        """
        CREATE UNLOGGED TABLE many AS
          SELECT i::int8 AS id, repeat(md5(i::text), 4) AS v, (i %% 1000)::numeric(12,2) AS n,
                 ARRAY[i, NULL] AS l, now() AS at
          FROM generate_series(1, %d) AS i\
        """
            .formatted(ROWS));
    Path file = folder.resolve("many.parquet");
    Process process =
        new ProcessBuilder(
                System.getProperty("java.home") + "/bin/java",
                "-Xmx256m",
                "-XX:+ExitOnOutOfMemoryError",
                "-cp",
                System.getProperty("java.class.path"),
                TableToFile.class.getName(),
                Integer.toString(TestPostgres.server().getPort()),
                database,
                "public.many",
                file.toString())
            .redirectErrorStream(true)
            .start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(output).isZero();
    assertThat(output).contains("rowsInFooter=" + ROWS);
    assertThat(inDuckDb(sums("read_parquet('" + file + "')", "list_sum(l)")))
        .isEqualTo(
            TestPostgres.query(database, sums("many", "(SELECT sum(e) FROM unnest(l) AS e)")));
  }

  private static String sums(String table, String list) {
    return "SELECT concat_ws(' ', count(*), sum(id), sum(length(v)), CAST(sum(n) AS bigint), sum(%s)) FROM %s"
        .formatted(list, table);
  }

  private static String inDuckDb(String query) throws Exception {
    try (Connection duckDb = DriverManager.getConnection("jdbc:duckdb:");
        Statement statement = duckDb.createStatement();
        ResultSet row = statement.executeQuery(query)) {
      row.next();
      return row.getString(1);
    }
  }
}
