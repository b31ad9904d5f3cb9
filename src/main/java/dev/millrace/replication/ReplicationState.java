package dev.millrace.replication;

import dev.millrace.control.ControlDatabase;
import dev.millrace.control.ControlSchema;
import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import dev.millrace.lake.StagedObject;
import dev.millrace.postgres.SeenIds;
import dev.millrace.postgres.Snapshot;
import dev.millrace.postgres.TableFiles;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
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
        "millrace.reading",
        "millrace.manifest",
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
            SELECT watermark, coalesce(baseline, 0), reading, first_load_to, key_column, key_kind,
                   system_identifier, database_name, table_oid, lake, prefix
            FROM millrace.table_state
            WHERE pipeline = ? AND schema_name = ? AND table_name = ?
            """)) {
      bind(statement, key);
      try (ResultSet row = statement.executeQuery()) {
        row.next();
        TableOrigin known =
            new TableOrigin(
                row.getString(7),
                row.getString(8),
                row.getLong(9),
                row.getString(10),
                row.getString(11));
        refuseChange(key, known, origin);
        refuseOtherKey(key, row.getString(5), row.getString(6), keyColumn, keyKind);
        return new TableProgress(
            row.getString(1), row.getString(3), row.getString(4), row.getLong(2));
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

  /** Forgets the name that an attempt reserved, and the manifest that nobody will need. */
  static void unreserve(Connection connection, String attempt) throws SQLException {
    for (String table : List.of("reservation", "manifest")) {
      try (PreparedStatement statement =
          connection.prepareStatement(
              "DELETE FROM millrace.%s WHERE attempt = ?".formatted(table))) {
        statement.setString(1, attempt);
        statement.executeUpdate();
      }
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
                   previous, reading, initial_load, goes_on_to, run_rows, null_keys, baseline,
                   spike, warning, long_transaction, replaced
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
                row.getString(12),
                row.getBoolean(13),
                row.getString(14),
                row.getLong(15),
                row.getLong(16),
                row.getLong(17),
                row.getBoolean(18),
                row.getString(19),
                LongTransaction.read(row.getString(20)),
                ReplacedCounts.read(row.getString(21))));
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
    requireWatermark(connection, key, intent);
    try (PreparedStatement statement =
        connection.prepareStatement(
            """
            INSERT INTO millrace.intent AS known
              (pipeline, schema_name, table_name, run_id, position, lake, object_key, upload_id,
               attempt, bytes, rows, low, high, previous, reading, initial_load, goes_on_to,
               run_rows, null_keys, baseline, spike, warning, long_transaction, replaced)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?::jsonb)
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
      statement.setString(14, intent.previous());
      statement.setString(15, intent.reading());
      statement.setBoolean(16, intent.initialLoad());
      statement.setString(17, intent.goesOnTo());
      statement.setLong(18, intent.runRows());
      statement.setLong(19, intent.nullKeys());
      statement.setLong(20, intent.baseline());
      statement.setBoolean(21, intent.spike());
      statement.setString(22, intent.warning());
      statement.setString(23, LongTransaction.write(intent.longTransaction()));
      statement.setString(24, ReplacedCounts.write(intent.replaced()));
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

  private static void requireWatermark(Connection connection, TableKey key, Intent intent)
      throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement(
            """
            SELECT 1 FROM millrace.table_state
            WHERE pipeline = ? AND schema_name = ? AND table_name = ?
              AND watermark IS NOT DISTINCT FROM ? AND reading IS NOT DISTINCT FROM ?
            FOR SHARE
            """)) {
      bind(statement, key);
      statement.setString(4, intent.low());
      statement.setString(5, intent.previous());
      try (ResultSet row = statement.executeQuery()) {
        if (!row.next()) {
          throw movedByOthers(key, intent.low());
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

  /**
   * Keeps the manifest of what an attempt has staged, until its object is published or given up;
   * may be called again.
   */
  static void insertManifest(Connection connection, TableKey key, String attempt, String text)
      throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement(
            """
            INSERT INTO millrace.manifest (pipeline, schema_name, table_name, attempt, text)
            VALUES (?, ?, ?, ?, ?)
            ON CONFLICT (attempt) DO NOTHING
            """)) {
      bind(statement, key);
      statement.setString(4, attempt);
      statement.setString(5, text);
      statement.executeUpdate();
    }
  }

  /** Returns the manifest of what an attempt has staged. */
  static Optional<String> manifest(Connection connection, String attempt) throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement("SELECT text FROM millrace.manifest WHERE attempt = ?")) {
      statement.setString(1, attempt);
      try (ResultSet row = statement.executeQuery()) {
        return row.next() ? Optional.of(row.getString(1)) : Optional.empty();
      }
    }
  }

  /** Returns the key of the object that was published last; nothing before the first one. */
  static Optional<String> lastObject(Connection connection, TableKey key) throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement(
            """
            SELECT last_object FROM millrace.table_state
            WHERE pipeline = ? AND schema_name = ? AND table_name = ?
            """)) {
      bind(statement, key);
      try (ResultSet row = statement.executeQuery()) {
        return row.next() ? Optional.ofNullable(row.getString(1)) : Optional.empty();
      }
    }
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
   * Moves the watermark from {@code low} to {@code high} and the reading with it; keeps the
   * baseline of a run that was neither empty nor a first load, when it ends.
   *
   * @throws MillraceException with {@code WATERMARK_CONFLICT} when another attempt has moved them
   */
  static void moveWatermark(Connection connection, TableKey key, Intent moved) throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement(
            """
            UPDATE millrace.table_state
            SET watermark = ?, reading = ?,
                baseline = CASE WHEN ? THEN ? ELSE baseline END,
                first_load_to = ?, last_object = coalesce(?, last_object),
                run_id = ?, updated_at = now()
            WHERE pipeline = ? AND schema_name = ? AND table_name = ?
              AND watermark IS NOT DISTINCT FROM ? AND reading IS NOT DISTINCT FROM ?
            """)) {
      boolean ends = moved.goesOnTo() == null;
      statement.setString(1, moved.high());
      statement.setString(2, moved.reading());
      statement.setBoolean(3, ends && moved.runRows() > 0 && !moved.initialLoad());
      statement.setLong(4, moved.runRows());
      statement.setString(5, moved.initialLoad() ? moved.goesOnTo() : null);
      statement.setString(6, moved.staged() == null ? null : moved.staged().key());
      statement.setString(7, moved.runId());
      statement.setString(8, key.pipeline());
      statement.setString(9, key.table().schema());
      statement.setString(10, key.table().table());
      statement.setString(11, moved.low());
      statement.setString(12, moved.previous());
      if (statement.executeUpdate() != 1) {
        throw movedByOthers(key, moved.low());
      }
    }
    forgetReadings(connection, key, moved.reading());
    // Those of attempts that nobody will publish any more.
    update(
        connection,
        key,
        """
        DELETE FROM millrace.manifest
        WHERE pipeline = ? AND schema_name = ? AND table_name = ?
        """);
  }

  /**
   * Forgets what attempts have read.
   *
   * @param kept the attempt whose reading stays; null for none
   */
  static void forgetReadings(Connection connection, TableKey key, String kept) throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement(
            """
            DELETE FROM millrace.reading
            WHERE pipeline = ? AND schema_name = ? AND table_name = ?
              AND attempt IS DISTINCT FROM ?
            """)) {
      bind(statement, key);
      statement.setString(4, kept);
      statement.executeUpdate();
    }
  }

  /**
   * Runs a statement whose parameters are those of a table.
   *
   * @return the number of rows that it changed
   */
  static int update(Connection connection, TableKey key, String sql) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      bind(statement, key);
      return statement.executeUpdate();
    }
  }

  /** Returns whether a reading is the one that the watermark rests on. */
  static boolean rests(Connection connection, TableKey key, String reading) throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement(
            """
            SELECT 1 FROM millrace.table_state
            WHERE pipeline = ? AND schema_name = ? AND table_name = ? AND reading = ?
            """)) {
      bind(statement, key);
      statement.setString(4, reading);
      try (ResultSet row = statement.executeQuery()) {
        return row.next();
      }
    }
  }

  /** Keeps what an attempt has read; may be called again. */
  static void insertReading(Connection connection, TableKey key, Reading reading)
      throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement(
            """
            INSERT INTO millrace.reading
              (pipeline, schema_name, table_name, attempt, snapshot, timeline, look_back, files,
               seen, open_since, open_told, filter)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (attempt) DO NOTHING
            """)) {
      bind(statement, key);
      SeenIds seen = reading.seen();
      statement.setString(4, reading.attempt());
      statement.setString(5, reading.snapshot() == null ? null : reading.snapshot().toString());
      statement.setInt(6, reading.timeline());
      statement.setString(7, reading.lookBack());
      statement.setString(8, reading.files() == null ? null : reading.files().toString());
      statement.setBytes(9, seen == null || seen.tooMany() ? null : seen.encode());
      statement.setObject(
          10, reading.openSince() == null ? null : reading.openSince().atOffset(ZoneOffset.UTC));
      statement.setBoolean(11, reading.openTold());
      statement.setString(12, reading.filter());
      statement.executeUpdate();
    }
  }

  /** Returns a reading; nothing where there is none of that attempt. */
  static Optional<Reading> reading(Connection connection, String attempt) throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement(
            """
            SELECT snapshot, timeline, look_back, files, seen, open_since, open_told, filter
            FROM millrace.reading WHERE attempt = ?
            """)) {
      statement.setString(1, attempt);
      try (ResultSet row = statement.executeQuery()) {
        if (!row.next()) {
          return Optional.empty();
        }
        String text = row.getString(1);
        Snapshot snapshot = text == null ? null : Snapshot.parse(text);
        byte[] seen = row.getBytes(5);
        String files = row.getString(4);
        OffsetDateTime since = row.getObject(6, OffsetDateTime.class);
        return Optional.of(
            new Reading(
                attempt,
                snapshot,
                row.getInt(2),
                row.getString(3),
                files == null ? null : TableFiles.parse(files),
                seen == null ? null : SeenIds.decode(snapshot, seen),
                since == null ? null : since.toInstant(),
                row.getBoolean(7),
                row.getString(8)));
      }
    }
  }

  /**
   * Adds a window to what a run did to a table; to be called once for each.
   *
   * @param ends whether it is the run's last one of the table
   */
  static void record(
      Connection connection,
      TableKey key,
      String runId,
      int position,
      TableResult result,
      boolean ends)
      throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement(
            """
            INSERT INTO millrace.table_result AS known
              (pipeline, schema_name, table_name, run_id, position, status, low, high, rows, bytes,
               object, objects, initial_load, baseline, spike, null_keys, warning, long_transaction,
               replaced)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?::jsonb)
            ON CONFLICT (run_id, schema_name, table_name) DO UPDATE
            SET status = CASE WHEN known.status = 'failed' THEN 'failed' ELSE EXCLUDED.status END,
                high = EXCLUDED.high,
                rows = known.rows + EXCLUDED.rows,
                bytes = known.bytes + EXCLUDED.bytes,
                object = coalesce(known.object, EXCLUDED.object),
                objects = known.objects + EXCLUDED.objects,
                spike = EXCLUDED.spike,
                warning = coalesce(EXCLUDED.warning, known.warning),
                long_transaction = coalesce(EXCLUDED.long_transaction, known.long_transaction),
                replaced = known.replaced || EXCLUDED.replaced,
                finished_at = now()
            """)) {
      bind(statement, key);
      statement.setString(4, runId);
      statement.setInt(5, position);
      statement.setString(6, ends ? "ok" : "unfinished");
      statement.setString(7, result.low());
      statement.setString(8, result.high());
      statement.setLong(9, result.rows());
      statement.setLong(10, result.bytes());
      statement.setString(11, result.object());
      statement.setInt(12, result.objects());
      statement.setBoolean(13, result.initialLoad());
      statement.setLong(14, result.baseline());
      statement.setBoolean(15, result.spike());
      statement.setLong(16, result.nullKeys());
      statement.setString(17, result.warning());
      statement.setString(18, LongTransaction.write(result.longTransaction()));
      statement.setString(19, ReplacedCounts.write(result.replaced()));
      statement.executeUpdate();
    }
  }

  /** Records why a table failed, unless it went well; windows that were published stay counted. */
  static void recordFailure(
      Connection connection, TableKey key, String runId, int position, TableFailure failure)
      throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement(
            """
            INSERT INTO millrace.table_result AS known
              (pipeline, schema_name, table_name, run_id, position, status, code, message)
            VALUES (?, ?, ?, ?, ?, 'failed', ?, ?)
            ON CONFLICT (run_id, schema_name, table_name) DO UPDATE
            SET status = 'failed', code = EXCLUDED.code, message = EXCLUDED.message,
                finished_at = now()
            WHERE known.status = 'unfinished'
            """)) {
      bind(statement, key);
      statement.setString(4, runId);
      statement.setInt(5, position);
      statement.setString(6, failure.code());
      statement.setString(7, failure.message());
      statement.executeUpdate();
    }
  }

  private static void bind(PreparedStatement statement, TableKey key) throws SQLException {
    statement.setString(1, key.pipeline());
    statement.setString(2, key.table().schema());
    statement.setString(3, key.table().table());
  }
}
