package dev.millrace.replication;

import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import dev.millrace.failure.NearestName;
import dev.millrace.postgres.Column;
import dev.millrace.postgres.ColumnRules;
import dev.millrace.postgres.ColumnType.Wire;
import dev.millrace.postgres.TableName;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** How the columns of a table are read and written, by the rules of a request. Stateless. */
final class TypeChoice {
  private TypeChoice() {}

  /**
   * Applies the rules.
   *
   * @param copied the columns that are copied, as the catalogue has them
   * @throws MillraceException with {@code COLUMN_MISSING} when there are rules for a column that is
   *     not copied; with {@code BAD_INPUT} when a rule for a column does nothing there; with {@code
   *     TYPE_UNSUPPORTED} when a rule refuses a column
   */
  static List<Column> decide(TableRequest request, List<Column> copied) {
    List<String> names = copied.stream().map(Column::name).toList();
    for (String name : request.types().keySet()) {
      if (!names.contains(name)) {
        throw new MillraceException(
            ErrorCode.COLUMN_MISSING,
            "%s: types names '%s', which is no column that is copied; did you mean %s?"
                .formatted(request.name(), name, NearestName.of(name, names)));
      }
    }
    return copied.stream().map(column -> decide(request, column)).toList();
  }

  private static Column decide(TableRequest request, Column column) {
    ColumnRules said = request.types().get(column.name());
    try {
      if (said == null) {
        return column.under(request.rules());
      }
      Column decided = column.under(said.orElse(request.rules()));
      requireEffect(request.name(), column, decided, said);
      return decided;
    } catch (MillraceException exception) {
      if (exception.code() != ErrorCode.TYPE_UNSUPPORTED) {
        throw exception;
      }
      throw new MillraceException(
          exception.code(), request.name() + ": " + exception.getMessage(), exception);
    }
  }

  /** A rule that changes nothing was meant for another column, or misunderstood. */
  private static void requireEffect(
      TableName table, Column column, Column decided, ColumnRules said) {
    Wire wire = decided.type().wire();
    boolean temporal = wire == Wire.DATE || wire == Wire.TIMESTAMP || wire == Wire.TIMESTAMPTZ;
    Map<String, Boolean> idle =
        Map.of(
            "numeric", said.numeric() != null && !column.type().isOpenNumeric(),
            "nan", said.nan() != null && wire != Wire.NUMERIC,
            "infinity", said.infinity() != null && !temporal,
            "arrays", said.arrays() != null && !column.type().isArray());
    idle.forEach(
        (rule, isIdle) -> {
          if (isIdle) {
            throw new MillraceException(
                ErrorCode.BAD_INPUT,
                "%s: %s has no meaning for column \"%s\" (%s), which is read as %s; leave it out of types.%s"
                    .formatted(
                        table,
                        rule,
                        column.name(),
                        column.type().declared(),
                        form(decided),
                        column.name()));
          }
        });
  }

  private static String form(Column column) {
    String form = column.asText() ? "text" : column.type().wire().name().toLowerCase(Locale.ROOT);
    return column.type().isArray() ? "a list of " + form : form;
  }
}
