package dev.millrace.clickhouse;

/** Placeholder. */
public record TargetColumn(String name, String type, Kind kind, String defaultExpression, int position) {
  public enum Kind { ORDINARY, DEFAULT, MATERIALIZED, ALIAS, EPHEMERAL }
}
