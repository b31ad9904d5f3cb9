package dev.millrace.replication;

import dev.millrace.control.ControlDatabase;
import dev.millrace.control.ControlSchema;
import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import dev.millrace.lake.StagedObject;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The SQL of schema {@code millrace}: watermarks, baselines, reserved names, intents and results.
 *
 * <p>All statements run in the caller's transaction; stateless.
 */
final class ReplicationState {
  private ReplicationState() {}

  /** Creates what is missing. */
  static void ensure(ControlDatabase database) {
    ControlSchema.ensure(
        database,
        ReplicationState.class,
        "state.sql",
        "millrace.table_state",
        "millrace.folder",
        "millrace.reservation",
        "millrace.intent",
        "millrace.table_result",
        "millrace.watermark");
  }

  /**
   * Returns how far the table is, and makes its row when there is none.
   *
   * @throws MillraceException with {@code SOURCE_CHANGED} or {@code LAKE_CHANGED} when the
   *     watermark belongs to another table or lake
   */
  static TableProgress open(
      Connection connection,
      TableKey key,
      String seedKey,
      String keyColumn,
      KeyKind keyKind,
      TableOrigin origin)
      throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement(
            """
            INSERT INTO millrace.table_state
              (pipeline, schema_name, table_name, seed_key, key_column, key_kind,
               system_identifier, database_name, table_oid, lake, prefix)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (pipeline, schema_name, table_name) DO UPDATE
            SET (seed_key, key_column, key_kind,
                 system_identifier, database_name, table_oid, lake, prefix)
              = (EXCLUDED.seed_key, EXCLUDED.key_column, EXCLUDED.key_kind,
                 EXCLUDED.system_identifier, EXCLUDED.database_name, EXCLUDED.table_oid,
                 EXCLUDED.lake, EXCLUDED.prefix)
            -- Nothing copied yet, or accepted by hand: whatever is there now is right.
            WHERE table_state.watermark IS NULL OR table_state.system_identifier = ''
            """)) {
      bind(statement, key);
      statement.setString(4, seedKey);
      statement.setString(5, keyColumn);
      statement.setString(6, keyKind.name());
      statement.setString(7, origin.systemIdentifier());
      statement.setString(8, origin.database());
      statement.setLong(9, origin.tableOid());
      statement.setString(10, origin.lake());
      statement.setString(11, origin.prefix());
      statement.executeUpdate();
    }
    try (PreparedStatement statement =
        connection.prepareStatement(
            """
            SELECT watermark, coalesce(baseline, 0), key_column, key_kind,
                   system_identifier, database_name, table_oid, lake, prefix
            FROM millrace.table_state
            WHERE pipeline = ? AND schema_name = ? AND table_name = ?
            """)) {
      bind(statement, key);
      try (ResultSet row = statement.executeQuery()) {
        row.next();
        TableOrigin known =
            new TableOrigin(
                row.getString(5),
                row.getString(6),
                row.getLong(7),
                row.getString(8),
                row.getString(9));
        refuseChange(key, known, origin);
        refuseOtherKey(key, row.getString(3), row.getString(4), keyColumn, keyKind);
        return new TableProgress(row.getString(1), row.getLong(2));
      }
    }
  }

  private static void refuseChange(TableKey key, TableOrigin known, TableOrigin now) {
    if (!known.systemIdentifier().equals(now.systemIdentifier())
        || !known.database().equals(now.database())
        || known.tableOid() != now.tableOid()) {
      throw new MillraceException(
          ErrorCode.SOURCE_CHANGED,
          "%s is another table than the one copied so far (cluster %s, database %s, oid %d; now %s, %s, %d); %s"
              .formatted(
                  key.table(),
                  known.systemIdentifier(),
                  known.database(),
                  known.tableOid(),
                  now.systemIdentifier(),
                  now.database(),
                  now.tableOid(),
                  wayOut(key)));
    }
    if (!known.lake().equals(now.lake()) || !known.prefix().equals(now.prefix())) {
      throw new MillraceException(
          ErrorCode.LAKE_CHANGED,
          "%s was copied to %s, prefix '%s', and now goes to %s, prefix '%s'; %s"
              .formatted(
                  key.table(),
                  known.lake(),
                  known.prefix(),
                  now.lake(),
                  now.prefix(),
                  wayOut(key)));
    }
  }

  private static void refuseOtherKey(
      TableKey key, String knownColumn, String knownKind, String column, KeyKind kind) {
    if (!knownColumn.equals(column) || !knownKind.equals(kind.name())) {
      throw new MillraceException(
          ErrorCode.SOURCE_CHANGED,
          "%s was copied by the key %s (%s), and now by %s (%s), for which the watermark means nothing; %s"
              .formatted(key.table(), knownColumn, knownKind, column, kind, wayOut(key)));
    }
  }

  private static String wayOut(TableKey key) {
    String options = "--pipeline %s --table '%s'".formatted(key.pipeline(), key.table());
    return "keep the watermark with `millrace state accept %s`, or load all rows again with `millrace state reset %s`"
        .formatted(options, options);
  }

  /**
   * Claims the table's folder for the pipeline.
   *
   * @throws MillraceException with {@code FOLDER_TAKEN} when another pipeline has it
   */
  static void claimFolder(Connection connection, String lake, String folder, String pipeline)
      throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement(
            """
            INSERT INTO millrace.folder AS known (lake, folder, pipeline) VALUES (?, ?, ?)
            ON CONFLICT (lake, folder) DO UPDATE SET pipeline = known.pipeline
            RETURNING pipeline
            """)) {
      statement.setString(1, lake);
      statement.setString(2, folder);
      statement.setString(3, pipeline);
      try (ResultSet row = statement.executeQuery()) {
        row.next();
        String owner = row.getString(1);
        if (!owner.equals(pipeline)) {
          throw new MillraceException(
              ErrorCode.FOLDER_TAKEN,
              "pipeline %s publishes into %s of %s already; give pipeline %s another lake or prefix, or leave the table to one of them"
                  .formatted(owner, folder, lake, pipeline));
        }
      }
    }
  }

  /**
   * Reserves the name of an object for an attempt.
   *
   * @return false when another table, run or attempt has it
   */
  static boolean reserve(
      Connection connection,
      TableKey key,
      String runId,
      String lake,
      String objectKey,
      String attempt)
      throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement(
            """
            INSERT INTO millrace.reservation
              (pipeline, schema_name, table_name, run_id, lake, object_key, attempt)
            VALUES (?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (lake, object_key) DO NOTHING
            """)) {
      bind(statement, key);
      statement.setString(4, runId);
      statement.setString(5, lake);
      statement.setString(6, objectKey);
      statement.setString(7, attempt);
      return statement.executeUpdate() == 1;
    }
  }

  /**
   * Notes the upload of a reserved name.
   *
   * @return false when the reservation is gone: another attempt has taken over
   */
  static boolean noteUpload(Connection connection, String attempt, String uploadId)
      throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement(
            "UPDATE millrace.reservation SET upload_id = ? WHERE attempt = ?")) {
      statement.setString(1, uploadId);
      statement.setString(2, attempt);
      return statement.executeUpdate() == 1;
    }
  }

  /** Returns whether the attempt still has its name. */
  static boolean reserved(Connection connection, String attempt) throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement("SELECT 1 FROM millrace.reservation WHERE attempt = ?")) {
      statement.setString(1, attempt);
      try (ResultSet row = statement.executeQuery()) {
        return row.next();
      }
    }
  }

  /** Forgets the name that an attempt reserved. */
  static void unreserve(Connection connection, String attempt) throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement("DELETE FROM millrace.reservation WHERE attempt = ?")) {
      statement.setString(1, attempt);
      statement.executeUpdate();
    }
  }

  /**
   * A name that an attempt reserved.
   *
   * @param objectKey the whole key
   * @param attempt the attempt's id
   */
  record Reservation(String objectKey, String attempt) {}

  /** Returns the names that attempts on a table have reserved in a lake. */
  static List<Reservation> reservations(Connection connection, TableKey key, String lake)
      throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement(
            """
            SELECT object_key, attempt FROM millrace.reservation
            WHERE pipeline = ? AND schema_name = ? AND table_name = ? AND lake = ?
            """)) {
      bind(statement, key);
      statement.setString(4, lake);
      try (ResultSet row = statement.executeQuery()) {
        List<Reservation> reservations = new ArrayList<>();
        while (row.next()) {
          reservations.add(new Reservation(row.getString(1), row.getString(2)));
        }
        return reservations;
      }
    }
  }

  /** Returns the intent of a table. */
  static Optional<Intent> intent(Connection connection, TableKey key) throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement(
            """
            SELECT run_id, position, lake, object_key, upload_id, attempt, bytes, rows, low, high,
                   snapshot, null_keys, baseline, spike, replaced
            FROM millrace.intent
            WHERE pipeline = ? AND schema_name = ? AND table_name = ?
            """)) {
      bind(statement, key);
      try (ResultSet row = statement.executeQuery()) {
        if (!row.next()) {
          return Optional.empty();
        }
        return Optional.of(
            new Intent(
                row.getString(1),
                row.getInt(2),
                row.getString(3),
                new StagedObject(
                    row.getString(4), row.getString(5), row.getString(6), row.getLong(7)),
                row.getLong(8),
                row.getString(9),
                row.getString(10),
                row.getString(11),
                row.getLong(12),
                row.getLong(13),
                row.getBoolean(14),
                ReplacedCounts.read(row.getString(15))));
      }
    }
  }

  /**
   * Inserts an intent; does nothing when it is there already.
   *
   * @throws MillraceException with {@code INTENT_CONFLICT} when there is another one, and with
   *     {@code WATERMARK_CONFLICT} when the watermark is not where the window begins: an attempt
   *     that wakes up after another one has published must leave no intent behind
   */
  static void insertIntent(Connection connection, TableKey key, Intent intent) throws SQLException {
    requireWatermark(connection, key, intent.low());
    try (PreparedStatement statement =
        connection.prepareStatement(
            """
            INSERT INTO millrace.intent AS known
              (pipeline, schema_name, table_name, run_id, position, lake, object_key, upload_id,
               attempt, bytes, rows, low, high, snapshot, null_keys, baseline, spike, replaced)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?::jsonb)
            ON CONFLICT (pipeline, schema_name, table_name) DO UPDATE SET attempt = known.attempt
            RETURNING attempt
            """)) {
      bind(statement, key);
      statement.setString(4, intent.runId());
      statement.setInt(5, intent.position());
      statement.setString(6, intent.lake());
      statement.setString(7, intent.staged().key());
      statement.setString(8, intent.staged().uploadId());
      statement.setString(9, intent.staged().attempt());
      statement.setLong(10, intent.staged().bytes());
      statement.setLong(11, intent.rows());
      statement.setString(12, intent.low());
      statement.setString(13, intent.high());
      statement.setString(14, intent.snapshot());
      statement.setLong(15, intent.nullKeys());
      statement.setLong(16, intent.baseline());
      statement.setBoolean(17, intent.spike());
      statement.setString(18, ReplacedCounts.write(intent.replaced()));
      try (ResultSet row = statement.executeQuery()) {
        row.next();
        String attempt = row.getString(1);
        if (!attempt.equals(intent.staged().attempt())) {
          throw new MillraceException(
              ErrorCode.INTENT_CONFLICT,
              "%s: attempt %s is being published; it is decided first"
                  .formatted(key.table(), attempt));
        }
      }
    }
  }

  private static void requireWatermark(Connection connection, TableKey key, String low)
      throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement(
            """
            SELECT 1 FROM millrace.table_state
            WHERE pipeline = ? AND schema_name = ? AND table_name = ?
              AND watermark IS NOT DISTINCT FROM ?
            FOR SHARE
            """)) {
      bind(statement, key);
      statement.setString(4, low);
      try (ResultSet row = statement.executeQuery()) {
        if (!row.next()) {
          throw movedByOthers(key, low);
        }
      }
    }
  }

  private static MillraceException movedByOthers(TableKey key, String low) {
    return new MillraceException(
        ErrorCode.WATERMARK_CONFLICT,
        "%s: the watermark is no longer %s, somebody else moved it; nothing was changed, the next run starts from where it is"
            .formatted(key.table(), low == null ? "unset" : low));
  }

  /** Forgets the intent of an attempt and its reserved name. */
  static void forget(Connection connection, TableKey key, String attempt) throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement(
            """
            DELETE FROM millrace.intent
            WHERE pipeline = ? AND schema_name = ? AND table_name = ? AND attempt = ?
            """)) {
      bind(statement, key);
      statement.setString(4, attempt);
      statement.executeUpdate();
    }
    unreserve(connection, attempt);
  }

  /**
   * Moves the watermark from {@code low} to {@code high}, keeps the baseline of a batch that was
   * neither empty nor a first load, and the snapshot.
   *
   * @throws MillraceException with {@code WATERMARK_CONFLICT} when it is not at {@code low}
   */
  static void moveWatermark(Connection connection, TableKey key, Intent moved) throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement(
            """
            UPDATE millrace.table_state
            SET watermark = ?,
                baseline = CASE WHEN ? THEN ? ELSE baseline END,
                snapshot = ?, run_id = ?, updated_at = now()
            WHERE pipeline = ? AND schema_name = ? AND table_name = ?
              AND watermark IS NOT DISTINCT FROM ?
            """)) {
      statement.setString(1, moved.high());
      statement.setBoolean(2, moved.rows() > 0 && moved.low() != null);
      statement.setLong(3, moved.rows());
      statement.setString(4, moved.snapshot());
      statement.setString(5, moved.runId());
      statement.setString(6, key.pipeline());
      statement.setString(7, key.table().schema());
      statement.setString(8, key.table().table());
      statement.setString(9, moved.low());
      if (statement.executeUpdate() != 1) {
        throw movedByOthers(key, moved.low());
      }
    }
  }

  /** Records what became of a table, the first time only. */
  static void record(
      Connection connection, TableKey key, String runId, int position, TableResult result)
      throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement(
            """
            INSERT INTO millrace.table_result
              (pipeline, schema_name, table_name, run_id, position, status, low, high, rows, bytes,
               object, initial_load, baseline, spike, null_keys, replaced)
            VALUES (?, ?, ?, ?, ?, 'ok', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?::jsonb)
            ON CONFLICT (run_id, schema_name, table_name) DO NOTHING
            """)) {
      bind(statement, key);
      statement.setString(4, runId);
      statement.setInt(5, position);
      statement.setString(6, result.low());
      statement.setString(7, result.high());
      statement.setLong(8, result.rows());
      statement.setLong(9, result.bytes());
      statement.setString(10, result.object());
      statement.setBoolean(11, result.initialLoad());
      statement.setLong(12, result.baseline());
      statement.setBoolean(13, result.spike());
      statement.setLong(14, result.nullKeys());
      statement.setString(15, ReplacedCounts.write(result.replaced()));
      statement.executeUpdate();
    }
  }

  /** Records why a table failed, unless it went well. */
  static void recordFailure(
      Connection connection, TableKey key, String runId, int position, TableFailure failure)
      throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement(
            """
            INSERT INTO millrace.table_result
              (pipeline, schema_name, table_name, run_id, position, status, code, message)
            VALUES (?, ?, ?, ?, ?, 'failed', ?, ?)
            ON CONFLICT (run_id, schema_name, table_name) DO NOTHING
            """)) {
      bind(statement, key);
      statement.setString(4, runId);
      statement.setInt(5, position);
      statement.setString(6, failure.code());
      statement.setString(7, failure.message());
      statement.executeUpdate();
    }
  }

  /** Returns the result of a table in a run, when it went well. */
  static Optional<TableResult> result(Connection connection, TableKey key, String runId)
      throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement(
            """
            SELECT schema_name, table_name, low, high, rows, bytes, object, initial_load, baseline,
                   spike, null_keys, replaced
            FROM millrace.table_result
            WHERE run_id = ? AND schema_name = ? AND table_name = ? AND status = 'ok'
            """)) {
      statement.setString(1, runId);
      statement.setString(2, key.table().schema());
      statement.setString(3, key.table().table());
      try (ResultSet row = statement.executeQuery()) {
        return row.next() ? Optional.of(RunReport.tableResult(row)) : Optional.empty();
      }
    }
  }

  private static void bind(PreparedStatement statement, TableKey key) throws SQLException {
    statement.setString(1, key.pipeline());
    statement.setString(2, key.table().schema());
    statement.setString(3, key.table().table());
  }
}
