package dev.millrace.refresh;

import dev.millrace.clickhouse.ClickHouseIdentifiers;
import dev.millrace.clickhouse.ClickHouseType;
import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import dev.millrace.postgres.Identifiers;
import java.util.ArrayList;
import java.util.List;

/**
 * How a column goes from Postgres to ClickHouse by either load, and how its values are compared.
 *
 * <p>Where it can't be done without a change of a value there is a refusal instead. SQL of Postgres
 * takes the table under the alias {@value #ALIAS}. Thread-safe; the encoder that it makes is not.
 *
 * @param source the column in Postgres
 * @param type the type of the column of the same name in ClickHouse
 * @param conversion from the one to the other
 */
record ColumnMapping(SourceColumn source, ClickHouseType type, Conversion conversion) {
  /** The alias of the source's table in all SQL. */
  static final String ALIAS = "t";

  /** Returns how a column is copied, or why it can't be. */
  static MappedColumn of(SourceColumn source, ClickHouseType type, LoadConditions conditions) {
    try {
      Conversion conversion = new Conversions(conditions).of(source.type(), type);
      if (conditions.load() == Load.PULL && !conditions.takesQuery()) {
        requireNative(source, conversion);
      }
      return new MappedColumn.Accepted(new ColumnMapping(source, type, conversion));
    } catch (UnsupportedPairException e) {
      return new MappedColumn.Refusal(
          "column \"%s\" can't go from %s to %s: %s"
              .formatted(source.name(), source.declared(), type.text(), e.getMessage()));
    }
  }

  private static void requireNative(SourceColumn source, Conversion conversion) {
    if (source.name().indexOf('"') >= 0 || source.name().indexOf('\\') >= 0) {
      throw new UnsupportedPairException(
          "this ClickHouse can't be given a query for Postgres and does not quote such a name; load by push");
    }
    boolean domain = !source.declared().equals(source.type().text());
    if (domain || !conversion.isNative()) {
      throw new UnsupportedPairException(
          "this ClickHouse can't be given a query for Postgres and would change values of this type by itself; load by push");
    }
  }

  /**
   * Returns the mappings of columns whose name is the same on both sides.
   *
   * @param sources the columns in Postgres
   * @param types the type of each in ClickHouse
   * @throws MillraceException with {@code TYPE_UNSUPPORTED} that tells of all columns that can't be
   *     copied
   */
  static List<ColumnMapping> all(
      List<SourceColumn> sources, List<ClickHouseType> types, LoadConditions conditions) {
    List<ColumnMapping> mappings = new ArrayList<>();
    List<String> refusals = new ArrayList<>();
    for (int i = 0; i < sources.size(); i++) {
      MappedColumn mapped = of(sources.get(i), types.get(i), conditions);
      if (mapped instanceof MappedColumn.Accepted accepted) {
        mappings.add(accepted.mapping());
      } else if (mapped instanceof MappedColumn.Refusal refusal) {
        refusals.add(refusal.text());
      }
    }
    if (!refusals.isEmpty()) {
      throw new MillraceException(ErrorCode.TYPE_UNSUPPORTED, String.join("\n", refusals));
    }
    return mappings;
  }

  /** Returns the name on both sides. */
  String name() {
    return source.name();
  }

  /** Returns the column as SQL of Postgres. */
  String sourceSql() {
    return ALIAS + "." + Identifiers.quote(name());
  }

  /** Returns the column as SQL of ClickHouse. */
  String targetSql() {
    return ClickHouseIdentifiers.quote(name());
  }

  /**
   * Returns the expression of our own SELECT that ClickHouse sends to Postgres. A value that has no
   * place in the target is an error there that names column and value.
   */
  String pullSelect() {
    return conversion.pull(
        sourceSql(),
        "column \"%s\" (%s) has a value that %s can't hold"
            .formatted(name(), source.declared(), type.text()));
  }

  /**
   * Returns the expression that ClickHouse makes of what Postgres sent for {@link #pullSelect}, or
   * of the column itself where {@code postgresql()} takes no query. NULL is an error when the
   * target is not Nullable.
   *
   * @param carried the name, as SQL of ClickHouse, under which it arrives
   */
  String pullInsert(String carried) {
    return conversion.insert(carried, type.text());
  }

  /** Returns the expression whose binary form {@link #encoder} reads. */
  String pushSelect() {
    return conversion.push(sourceSql());
  }

  /** Returns an encoder for values that are not NULL. */
  ValueEncoder encoder() {
    return conversion.encoder();
  }

  /** Returns SQL of Postgres for the canonical text of the value, never NULL. */
  String sourceHash() {
    String text = conversion.sourceText(sourceSql());
    return source.nullable() ? "coalesce(%s, 'N')".formatted(text) : text;
  }

  /** Returns SQL of ClickHouse for the canonical text of the value, never NULL. */
  String targetHash() {
    if (!type.nullable()) {
      return conversion.targetText(targetSql());
    }
    return "if(isNull(%s), 'N', %s)"
        .formatted(targetSql(), conversion.targetText("assumeNotNull(" + targetSql() + ")"));
  }

  /** Returns the figures that show values without a place in the target. */
  List<RangeCheck> rangeChecks() {
    return conversion.checks();
  }

  /**
   * Returns what is wrong with a value that a figure of {@link #rangeChecks} shows.
   *
   * @param value its text
   */
  String complaint(RangeCheck check, String value) {
    return "the value %s of column \"%s\" (%s) %s"
        .formatted(shortened(value), name(), source.declared(), check.complaint());
  }

  private static String shortened(String value) {
    int most = 64;
    return value.length() <= most
        ? value
        : value.substring(0, value.offsetByCodePoints(0, most / 2)) + "…";
  }
}
