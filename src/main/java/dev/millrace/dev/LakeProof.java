package dev.millrace.dev;

import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Properties;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * Proves that the newest version of each key in Parquet files equals a table in Postgres.
 *
 * <p>DuckDB reads the files: it shares no code with Millrace's writer. Every column of every row is
 * compared in a text form that both databases write alike. Not thread-safe.
 */
final class LakeProof implements AutoCloseable {
  private static final int FETCHED_ROWS = 5000;

  private final Connection duck;

  /**
   * What came out for a table.
   *
   * @param rows rows found equal
   * @param columns columns compared
   * @param versions rows in all files together
   * @param difference the first difference in words; empty when there is none
   */
  record Outcome(long rows, int columns, long versions, Optional<String> difference) {}

  private record Column(String name, String type) {}

  private LakeProof(Connection duck) {
    this.duck = duck;
  }

  /**
   * Starts the reader.
   *
   * @param scratch a folder for what does not fit in memory
   */
  static LakeProof open(Path scratch) throws SQLException {
    Properties settings = new Properties();
    settings.setProperty("autoinstall_known_extensions", "false");
    settings.setProperty("autoload_known_extensions", "false");
    settings.setProperty("temp_directory", scratch.toString());
    settings.setProperty("jdbc_stream_results", "true");
    return new LakeProof(DriverManager.getConnection("jdbc:duckdb:", settings));
  }

  /**
   * Compares a table with its files.
   *
   * @param postgres a connection on which no transaction is open
   * @param table {@code schema.table}, both plain
   * @param key its key, of a type whose text has ASCII only
   * @param updateKey the column whose greatest value is a key's newest version
   * @param files its Parquet files
   */
  Outcome prove(Connection postgres, String table, String key, String updateKey, List<Path> files)
      throws SQLException {
    if (files.isEmpty()) {
      return new Outcome(0, 0, 0, Optional.of("the lake has no object of it"));
    }
    String source =
        files.stream()
            .map(file -> "'" + file.toString().replace("'", "''") + "'")
            .collect(Collectors.joining(", ", "read_parquet([", "])"));
    List<Column> columns = columns(postgres, table);
    List<String> names = columns.stream().map(Column::name).toList();
    List<String> found = lakeColumns(source);
    if (!names.equals(found)) {
      return new Outcome(
          0,
          0,
          0,
          Optional.of("the table has columns %s, the lake has %s".formatted(names, found)));
    }
    // The key's column comes first, so that the comparison finds it there.
    List<Column> compared = new ArrayList<>(columns);
    compared.sort(
        (one, other) -> Boolean.compare(other.name().equals(key), one.name().equals(key)));
    // rank, not row_number: a version that is there twice shows as a row more.
    String newest =
        """
        SELECT %s FROM %s
        QUALIFY rank() OVER (PARTITION BY "%s" ORDER BY "%s" DESC) = 1
        ORDER BY CAST("%s" AS VARCHAR)
        """
            .formatted(list(compared, LakeProof::inDuck), source, key, updateKey, key);
    String current =
        "SELECT %s FROM %s ORDER BY CAST(\"%s\" AS text) COLLATE \"C\""
            .formatted(list(compared, LakeProof::inPostgres), table, key);
    postgres.setAutoCommit(false);
    try (Statement inPostgres = postgres.createStatement();
        Statement inDuck = duck.createStatement()) {
      inPostgres.setFetchSize(FETCHED_ROWS);
      inPostgres.execute("SET LOCAL TimeZone TO 'UTC'");
      try (ResultSet tableRows = inPostgres.executeQuery(current);
          ResultSet lakeRows = inDuck.executeQuery(newest)) {
        RowComparison comparison =
            new RowComparison(tableRows, lakeRows, compared.stream().map(Column::name).toList());
        Optional<String> difference = comparison.firstDifference();
        return new Outcome(comparison.rows(), columns.size(), versions(source), difference);
      }
    } finally {
      postgres.rollback();
      postgres.setAutoCommit(true);
    }
  }

  @Override
  public void close() throws SQLException {
    duck.close();
  }

  private long versions(String source) throws SQLException {
    try (Statement statement = duck.createStatement();
        ResultSet row = statement.executeQuery("SELECT count(*) FROM " + source)) {
      row.next();
      return row.getLong(1);
    }
  }

  private List<String> lakeColumns(String source) throws SQLException {
    List<String> names = new ArrayList<>();
    try (Statement statement = duck.createStatement();
        ResultSet row = statement.executeQuery("DESCRIBE SELECT * FROM " + source)) {
      while (row.next()) {
        names.add(row.getString(1));
      }
    }
    return names;
  }

  private static List<Column> columns(Connection postgres, String table) throws SQLException {
    List<Column> columns = new ArrayList<>();
    try (PreparedStatement statement =
        postgres.prepareStatement(
            """
            SELECT attname, format_type(atttypid, NULL) FROM pg_attribute
            WHERE attrelid = CAST(? AS regclass) AND attnum > 0 AND NOT attisdropped
            ORDER BY attnum
            """)) {
      statement.setString(1, table);
      try (ResultSet row = statement.executeQuery()) {
        while (row.next()) {
          columns.add(new Column(row.getString(1), row.getString(2)));
        }
      }
    }
    return columns;
  }

  private static String list(List<Column> columns, Function<Column, String> expression) {
    return columns.stream().map(expression).collect(Collectors.joining(", "));
  }

  private static String inPostgres(Column column) {
    return switch (column.type()) {
      case "timestamp with time zone" ->
          "to_char(\"%s\", 'YYYY-MM-DD HH24:MI:SS.US')".formatted(column.name());
      case "boolean", "bigint", "integer", "numeric", "text", "uuid", "date", "jsonb" ->
          "CAST(\"%s\" AS text)".formatted(column.name());
      default -> throw unknown(column);
    };
  }

  private static String inDuck(Column column) {
    return switch (column.type()) {
      // By way of microseconds: no extension and no time zone of the session has a say.
      case "timestamp with time zone" ->
          "strftime(make_timestamp(epoch_us(\"%s\")), '%%Y-%%m-%%d %%H:%%M:%%S.%%f')"
              .formatted(column.name());
      case "boolean", "bigint", "integer", "numeric", "text", "uuid", "date", "jsonb" ->
          "CAST(\"%s\" AS VARCHAR)".formatted(column.name());
      default -> throw unknown(column);
    };
  }

  private static MillraceException unknown(Column column) {
    return new MillraceException(
        ErrorCode.INTERNAL,
        "Column %s has type %s, whose texts the proof can't compare"
            .formatted(column.name(), column.type()));
  }
}
