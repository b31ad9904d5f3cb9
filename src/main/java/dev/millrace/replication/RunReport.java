package dev.millrace.replication;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.millrace.postgres.TableName;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/** Makes the result of a run from what its tables recorded. Stateless. */
final class RunReport {
  /** Results lead to the rest in the state beyond this number of tables. */
  static final int MOST_TABLES = 200;

  /** Half of what a payload may have, since failures travel beside their details. */
  private static final int MOST_BYTES = 24 * 1024;

  /** How long results of runs are kept. */
  private static final String KEPT = "90 days";

  private static final JsonMapper JSON = new JsonMapper();

  private RunReport() {}

  /**
   * Reads the result.
   *
   * @param tables tables that were asked for
   * @param timeIsUp whether the run's time was over before all tables were copied
   */
  static RunResult read(
      Connection connection,
      String pipeline,
      String runId,
      boolean demo,
      int tables,
      boolean timeIsUp)
      throws SQLException {
    List<TableResult> results = new ArrayList<>();
    List<TableFailure> failures = new ArrayList<>();
    int ok = 0;
    int failed = 0;
    long rows = 0;
    long bytes = 0;
    int size = 0;
    boolean omitted = false;
    try (PreparedStatement statement =
        connection.prepareStatement(
            """
            SELECT schema_name, table_name, low, high, rows, bytes, object, objects, initial_load,
                   baseline, spike, null_keys, warning, long_transaction, replaced, status, code,
                   message
            FROM millrace.table_result WHERE run_id = ?
            ORDER BY status = 'ok', position
            """)) {
      statement.setString(1, runId);
      try (ResultSet row = statement.executeQuery()) {
        while (row.next()) {
          if (row.getString("status").equals("unfinished")) {
            rows += row.getLong("rows");
            bytes += row.getLong("bytes");
            continue;
          }
          boolean well = row.getString("status").equals("ok");
          ok += well ? 1 : 0;
          failed += well ? 0 : 1;
          rows += row.getLong("rows");
          bytes += row.getLong("bytes");
          Object shown = well ? tableResult(row) : tableFailure(row);
          size += bytesOf(shown);
          if (size > MOST_BYTES || results.size() + failures.size() == MOST_TABLES) {
            omitted = true;
          } else if (shown instanceof TableResult result) {
            results.add(result);
          } else if (shown instanceof TableFailure failure) {
            failures.add(failure);
          }
        }
      }
    }
    String status = status(ok, failed, tables, timeIsUp);
    return new RunResult(
        "%spipeline %s: %d of %d tables, %d rows, %d bytes%s%s"
            .formatted(
                demo ? "DEMO " : "",
                pipeline,
                ok,
                tables,
                rows,
                bytes,
                failed == 0 ? "" : "; %d failed".formatted(failed),
                timeIsUp ? "; its time (limits.run_timeout) was over, the next run goes on" : ""),
        runId,
        pipeline,
        status,
        tables,
        ok,
        failed,
        rows,
        bytes,
        results,
        failures,
        omitted ? "SELECT * FROM millrace.table_result WHERE run_id = '" + runId + "'" : null);
  }

  private static String status(int ok, int failed, int tables, boolean timeIsUp) {
    if (failed == 0 && ok == tables) {
      return "ok";
    }
    return ok > 0 || timeIsUp ? "partial" : "failed";
  }

  /** Forgets results of runs that ended long ago. */
  static void forgetOld(Connection connection) throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement(
            "DELETE FROM millrace.table_result WHERE finished_at < now() - ?::interval")) {
      statement.setString(1, KEPT);
      statement.executeUpdate();
    }
  }

  static TableResult tableResult(ResultSet row) throws SQLException {
    return new TableResult(
        name(row),
        row.getString("low"),
        row.getString("high"),
        row.getLong("rows"),
        row.getLong("bytes"),
        row.getString("object"),
        row.getInt("objects"),
        row.getBoolean("initial_load"),
        row.getLong("baseline"),
        row.getBoolean("spike"),
        row.getLong("null_keys"),
        row.getString("warning"),
        LongTransaction.read(row.getString("long_transaction")),
        ReplacedCounts.few(ReplacedCounts.read(row.getString("replaced"))));
  }

  private static TableFailure tableFailure(ResultSet row) throws SQLException {
    long rows = row.getLong("rows");
    String published =
        row.getString("high") == null
            ? ""
            : " (%,d rows up to %s were published before; the next run goes on from there)"
                .formatted(rows, row.getString("high"));
    return new TableFailure(name(row), row.getString("code"), row.getString("message") + published);
  }

  private static String name(ResultSet row) throws SQLException {
    return new TableName(row.getString("schema_name"), row.getString("table_name")).toString();
  }

  private static int bytesOf(Object shown) {
    try {
      return JSON.writeValueAsString(shown).getBytes(StandardCharsets.UTF_8).length;
    } catch (JsonProcessingException exception) {
      throw new IllegalStateException("a result can't be written as JSON", exception);
    }
  }
}
