package dev.millrace.replication;

import dev.millrace.postgres.Column;
import dev.millrace.postgres.ColumnType;
import dev.millrace.postgres.Identifiers;
import dev.millrace.postgres.RowFilter;
import java.util.List;
import java.util.stream.Collectors;

/**
 * The generated tables of demo mode: one order every 10 seconds and one payment every 25 since
 * midnight UTC, so that each run finds the rows that arrived since the last one.
 */
final class DemoTable {
  private static final int SECONDS_OF_DAY = 86_400;

  private DemoTable() {}

  /** Returns the table; its rows come from a SELECT, so any Postgres connection will do. */
  static SourceTable of(TableRequest request) {
    Column key =
        new Column(
            request.updateKey(),
            new ColumnType(ColumnType.Wire.TIMESTAMPTZ, 0, 0, "timestamp with time zone"),
            false);
    List<Column> columns =
        List.of(
            new Column("id", new ColumnType(ColumnType.Wire.INT8, 0, 0, "bigint"), false),
            new Column(
                "amount", new ColumnType(ColumnType.Wire.NUMERIC, 12, 2, "numeric(12,2)"), false),
            key);
    return new SourceTable(
        request.name(),
        columns,
        key,
        KeyKind.TIMESTAMPTZ,
        true,
        "demo",
        "demo",
        0,
        null,
        RowFilter.NONE,
        (wanted, condition, withIds) -> select(request, wanted, condition));
  }

  private static String select(TableRequest request, List<Column> columns, String condition) {
    int pace = request.name().table().equals("orders") ? 10 : 25;
    String rows =
        """
        SELECT i AS id, round(10 + (i * 7) %% 90, 2)::numeric(12,2) AS amount,
               date_trunc('day', now(), 'UTC') + i * interval '%d seconds' AS %s
        FROM generate_series(1::bigint, %d) AS i
        WHERE date_trunc('day', now(), 'UTC') + i * interval '%d seconds' <= now()\
        """
            .formatted(
                pace, Identifiers.quote(request.updateKey()), SECONDS_OF_DAY / pace - 1, pace);
    String list =
        columns.stream()
            .map(column -> Identifiers.quote(column.name()))
            .collect(Collectors.joining(", "));
    return "SELECT %s FROM (%s) AS generated%s"
        .formatted(list, rows, condition == null ? "" : " WHERE " + condition);
  }
}
