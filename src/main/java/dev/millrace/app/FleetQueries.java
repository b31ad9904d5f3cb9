package dev.millrace.app;

import dev.millrace.app.Fleet.Dead;
import dev.millrace.app.Fleet.LeaseLine;
import dev.millrace.app.Fleet.PipelineLine;
import dev.millrace.app.Fleet.Waiting;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Reads the fleet from the state. All of it sees one snapshot; stateless. */
final class FleetQueries {
  private FleetQueries() {}

  /** Returns whether the tables are there that the rest reads; a fresh database has none. */
  static boolean ready(Connection connection) throws SQLException {
    try (PreparedStatement statement =
            connection.prepareStatement(
                """
                SELECT count(*) = 4
                FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
                WHERE (nspname, relname) IN
                  (('control', 'run'), ('control', 'lease'),
                   ('millrace', 'queue'), ('millrace', 'table_state'))
                """);
        ResultSet row = statement.executeQuery()) {
      row.next();
      return row.getBoolean(1);
    }
  }

  static List<PipelineLine> pipelines(Connection connection) throws SQLException {
    Map<String, Long> ages = watermarkAges(connection);
    try (PreparedStatement statement =
            connection.prepareStatement(
                """
                WITH last AS (
                  SELECT DISTINCT ON (extractor) *
                  FROM control.run ORDER BY extractor, started_at DESC, run_id DESC
                )
                SELECT coalesce(last.extractor, lease.extractor) AS pipeline,
                       last.run_id, last.mode, last.host, last.status, last.stop_reason,
                       last.started_at, last.finished_at,
                       extract(epoch FROM now() - last.started_at)::bigint AS ago,
                       extract(epoch FROM coalesce(last.finished_at, now()) - last.started_at)
                         ::bigint AS seconds,
                       last.n_ok, last.n_err, last.n_skipped,
                       events.rows, events.ok, events.failed, failure.error_detail,
                       last.extra -> 'temporal' ->> 'workflow_id' AS workflow_id,
                       lease.run_id AS holder,
                       floor(extract(epoch FROM lease.lease_expires_at - now()))::bigint AS seconds_left
                FROM last
                FULL JOIN control.lease ON lease.extractor = last.extractor
                LEFT JOIN LATERAL (
                  SELECT sum(event.rows)::bigint AS rows,
                         count(*) FILTER (WHERE event.status IN ('ok', 'zero_rows', 'ok_partial'))
                           ::int AS ok,
                         count(*) FILTER (WHERE event.status NOT IN ('ok', 'zero_rows', 'ok_partial'))
                           ::int AS failed
                  FROM control.event
                  WHERE event.run_id = last.run_id AND event.extractor = last.extractor
                ) AS events ON true
                LEFT JOIN LATERAL (
                  SELECT concat_ws(': ', event.entity, event.error_detail) AS error_detail
                  FROM control.event
                  WHERE event.run_id = last.run_id AND event.extractor = last.extractor
                    AND event.error_detail IS NOT NULL
                  ORDER BY event.seq DESC LIMIT 1
                ) AS failure ON true
                ORDER BY 1
                """);
        ResultSet row = statement.executeQuery()) {
      List<PipelineLine> lines = new ArrayList<>();
      while (row.next()) {
        lines.add(pipeline(row, ages));
      }
      return lines;
    }
  }

  private static PipelineLine pipeline(ResultSet row, Map<String, Long> ages) throws SQLException {
    boolean ended = row.getObject("finished_at") != null;
    return new PipelineLine(
        row.getString("pipeline"),
        row.getString("run_id"),
        row.getString("mode"),
        row.getString("host"),
        row.getString("status"),
        row.getString("stop_reason"),
        instant(row, "started_at"),
        instant(row, "finished_at"),
        row.getObject("ago", Long.class),
        row.getObject("seconds", Long.class),
        row.getObject(ended ? "n_ok" : "ok", Integer.class),
        row.getObject(ended ? "n_err" : "failed", Integer.class),
        row.getObject("n_skipped", Integer.class),
        row.getObject("rows", Long.class),
        ages.get(row.getString("pipeline")),
        row.getString("holder") == null
            ? null
            : new LeaseLine(row.getString("holder"), row.getLong("seconds_left")),
        row.getString("error_detail"),
        row.getString("workflow_id"));
  }

  /** A number key has no age; a wall-clock key is taken as UTC. */
  private static Map<String, Long> watermarkAges(Connection connection) throws SQLException {
    try (PreparedStatement statement =
            connection.prepareStatement(
                """
                SELECT pipeline,
                       extract(epoch FROM now() - min(watermark::timestamptz))::bigint
                FROM millrace.table_state
                WHERE watermark IS NOT NULL AND key_kind <> 'NUMBER'
                GROUP BY pipeline
                """);
        ResultSet row = statement.executeQuery()) {
      Map<String, Long> ages = new LinkedHashMap<>();
      while (row.next()) {
        ages.put(row.getString(1), row.getLong(2));
      }
      return ages;
    }
  }

  static List<Waiting> queue(Connection connection) throws SQLException {
    try (PreparedStatement statement =
            connection.prepareStatement(
                """
                SELECT pipeline, run_id, workflow_id,
                       extract(epoch FROM now() - started_at)::bigint,
                       extract(epoch FROM now() - asked_at)::bigint
                FROM millrace.queue
                WHERE turn_at IS NULL AND asked_at > now() - interval '5 minutes'
                ORDER BY pipeline, started_at, run_id
                """);
        ResultSet row = statement.executeQuery()) {
      List<Waiting> waiting = new ArrayList<>();
      while (row.next()) {
        waiting.add(
            new Waiting(
                row.getString(1),
                row.getString(2),
                row.getString(3),
                row.getLong(4),
                row.getLong(5)));
      }
      return waiting;
    }
  }

  static List<Dead> dead(Connection connection) throws SQLException {
    try (PreparedStatement statement =
            connection.prepareStatement(
                """
                SELECT run.extractor, run.run_id, run.host, run.started_at,
                       run.extra -> 'temporal' ->> 'workflow_id'
                FROM control.run
                WHERE run.finished_at IS NULL AND NOT EXISTS (
                  SELECT 1 FROM control.lease
                  WHERE lease.extractor = run.extractor AND lease.run_id = run.run_id
                    AND lease.lease_expires_at >= now())
                ORDER BY run.started_at
                """);
        ResultSet row = statement.executeQuery()) {
      List<Dead> dead = new ArrayList<>();
      while (row.next()) {
        dead.add(
            new Dead(
                row.getString(1),
                row.getString(2),
                row.getString(3),
                instant(row, "started_at"),
                row.getString(5)));
      }
      return dead;
    }
  }

  private static String instant(ResultSet row, String column) throws SQLException {
    var time = row.getTimestamp(column);
    return time == null ? null : time.toInstant().toString();
  }
}
