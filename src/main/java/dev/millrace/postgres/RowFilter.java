package dev.millrace.postgres;

import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import dev.millrace.failure.NearestName;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Which rows of a table are read: those that meet all conditions. NULL is as in SQL: it meets none
 * but {@code is null}.
 *
 * <p>Whether a row passes depends on the row alone, never on when or where it is read.
 *
 * @param conditions sorted, so that filters that mean the same by another order are equal; empty
 *     for all rows
 */
public record RowFilter(List<Condition> conditions) {
  /** All rows pass. */
  public static final RowFilter NONE = new RowFilter(List.of());

  /** What Postgres says of a text that its type can't hold, or of an operator that it lacks. */
  private static final List<String> UNUSABLE = List.of("42883", "42725", "42804", "42846");

  private static final String DAY = "[0-9]{4,6}-[0-9]{2}-[0-9]{2}";
  private static final String CLOCK = "[0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]{1,6})?)?";
  private static final String ZONE = " ?(Z|[+-][0-9]{2}(:?[0-9]{2})?)";
  private static final String INFINITE = "|-?infinity";
  private static final Pattern DATE = Pattern.compile(DAY + INFINITE);
  private static final Pattern TIME = Pattern.compile(CLOCK);
  private static final Pattern TIMESTAMP = Pattern.compile(DAY + "([ T]" + CLOCK + ")?" + INFINITE);
  private static final Pattern TIMESTAMPTZ =
      Pattern.compile(DAY + "([ T]" + CLOCK + "(" + ZONE + ")?)?" + INFINITE);

  /** How a column is compared. */
  public enum Operator {
    EQUAL("="),
    NOT_EQUAL("<>"),
    LESS("<"),
    LESS_OR_EQUAL("<="),
    GREATER(">"),
    GREATER_OR_EQUAL(">="),
    IN("in"),
    NOT_IN("not in"),
    IS_NULL("is null"),
    IS_NOT_NULL("is not null");

    private final String text;

    Operator(String text) {
      this.text = text;
    }

    /** Returns it as a person writes it. */
    public String text() {
      return text;
    }

    /** Returns the operator that is written so. */
    public static Optional<Operator> of(String text) {
      return Stream.of(values()).filter(operator -> operator.text.equals(text)).findFirst();
    }

    /** Returns how many values stand behind it. */
    public Operands operands() {
      return switch (this) {
        case EQUAL, NOT_EQUAL, LESS, LESS_OR_EQUAL, GREATER, GREATER_OR_EQUAL -> Operands.ONE;
        case IN, NOT_IN -> Operands.LIST;
        case IS_NULL, IS_NOT_NULL -> Operands.NONE;
      };
    }
  }

  /** How many values an operator takes. */
  public enum Operands {
    NONE,
    ONE,
    /** At least one. */
    LIST
  }

  /**
   * A condition on one column.
   *
   * @param column as the catalogue has it
   * @param values what it is compared with, each in the text form of the column's type; sorted
   *     where they are a list
   */
  public record Condition(String column, Operator operator, List<String> values) {
    public Condition {
      boolean right =
          switch (operator.operands()) {
            case NONE -> values.isEmpty();
            case ONE -> values.size() == 1;
            case LIST -> !values.isEmpty();
          };
      if (!right) {
        throw new IllegalArgumentException(
            "%s %s with %d values".formatted(column, operator.text(), values.size()));
      }
      values = values.stream().distinct().sorted().toList();
    }

    private String sql() {
      String start = Identifiers.quote(column) + " " + operator.text().toUpperCase(Locale.ROOT);
      return switch (operator.operands()) {
        case NONE -> start;
        case ONE -> start + " " + Identifiers.literal(values.get(0));
        case LIST ->
            values.stream()
                .map(Identifiers::literal)
                .collect(Collectors.joining(", ", start + " (", ")"));
      };
    }
  }

  public RowFilter {
    conditions =
        conditions.stream().distinct().sorted(Comparator.comparing(Condition::sql)).toList();
  }

  /** Returns whether all rows pass. */
  public boolean isNone() {
    return conditions.isEmpty();
  }

  /** Returns it as SQL; null when all rows pass. Equal filters have equal texts, others don't. */
  public String text() {
    return isNone()
        ? null
        : conditions.stream().map(Condition::sql).collect(Collectors.joining(" AND "));
  }

  /**
   * Returns a condition that only rows of the filter meet.
   *
   * @param condition SQL, or null for all rows
   * @return SQL; null for all rows
   */
  public String and(String condition) {
    if (isNone() || condition == null) {
      return isNone() ? condition : text();
    }
    // A literal without a type takes the column's, without a length or scale that would change it.
    return "(%s) AND %s".formatted(condition, text());
  }

  /**
   * Makes sure that the relation has the columns and the user may read them.
   *
   * @throws MillraceException with {@code COLUMN_MISSING}, {@code NO_PRIVILEGE}, or {@code
   *     BAD_CONFIGURATION} when a column can't be compared with such a value
   */
  public void requireFits(Relation relation) {
    for (Condition condition : conditions) {
      Column column = column(relation, condition);
      relation.requireReadable(List.of(column));
      if (condition.operator().operands() != Operands.NONE) {
        requireComparable(relation, condition, column);
      }
    }
  }

  /**
   * Lets Postgres itself read the values, each as its column's type, before a row is asked for.
   *
   * @throws MillraceException as {@link #requireFits}; with {@code BAD_CONFIGURATION} also when
   *     Postgres can't read a value
   */
  public void check(Connection connection, Relation relation) throws SQLException {
    requireFits(relation);
    for (Condition condition : conditions) {
      try (Statement statement = connection.createStatement()) {
        statement.execute(
            "SELECT FROM %s WHERE false AND %s"
                .formatted(Identifiers.quote(relation.name()), condition.sql()));
      } catch (SQLException exception) {
        String state = exception.getSQLState();
        if (state == null || (!state.startsWith("22") && !UNUSABLE.contains(state))) {
          throw exception;
        }
        throw refused(
            relation,
            condition,
            "Postgres says: %s (SQLSTATE %s); correct the value or the operator"
                .formatted(exception.getMessage().lines().findFirst().orElse(""), state),
            exception);
      }
    }
  }

  private static Column column(Relation relation, Condition condition) {
    return relation
        .column(condition.column())
        .orElseThrow(
            () ->
                new MillraceException(
                    ErrorCode.COLUMN_MISSING,
                    "%s has no column '%s', which its filter in the configuration names; did you mean %s?"
                        .formatted(
                            relation.name(),
                            condition.column(),
                            NearestName.of(
                                condition.column(),
                                relation.columns().stream().map(Column::name).toList()))));
  }

  private static void requireComparable(Relation relation, Condition condition, Column column) {
    if (column.type().isArray()
        || column.readAs() != null
        || column.kind() == Column.Kind.JSON
        || column.type().wire() == ColumnType.Wire.BYTEA) {
      throw refused(
          relation,
          condition,
          "columns of type %s are only compared by is null and is not null; filter by another column"
              .formatted(column.type().declared()),
          null);
    }
    for (String value : condition.values()) {
      requireForm(relation, condition, column, value);
    }
  }

  /**
   * Of times only what says one moment: {@code now} would be another one in each run, and a type
   * without a zone would ignore one.
   */
  private static void requireForm(
      Relation relation, Condition condition, Column column, String value) {
    switch (column.type().wire()) {
      case DATE -> requireForm(relation, condition, value, DATE, "a date such as 2024-01-31");
      case TIME -> requireForm(relation, condition, value, TIME, "a time such as 18:15:00");
      case TIMESTAMP ->
          requireForm(
              relation,
              condition,
              value,
              TIMESTAMP,
              "a timestamp without zone such as 2024-01-31 or 2024-01-31 18:15:00");
      case TIMESTAMPTZ ->
          requireForm(
              relation,
              condition,
              value,
              TIMESTAMPTZ,
              "a timestamp such as 2024-01-31 18:15:00+02:00, which is in UTC without a zone");
      case BOOL, INT2, INT4, INT8, FLOAT4, FLOAT8, NUMERIC, TEXT, JSONB, BYTEA, UUID -> {
        // Postgres reads them alike everywhere and always.
      }
    }
  }

  private static void requireForm(
      Relation relation, Condition condition, String value, Pattern form, String what) {
    if (!form.matcher(value).matches()) {
      throw refused(
          relation, condition, "'%s' is not %s; correct the value".formatted(value, what), null);
    }
  }

  private static MillraceException refused(
      Relation relation, Condition condition, String reason, SQLException cause) {
    return new MillraceException(
        ErrorCode.BAD_CONFIGURATION,
        "%s: its filter in the configuration can't be used, column '%s', operator '%s': %s"
            .formatted(relation.name(), condition.column(), condition.operator().text(), reason),
        cause);
  }
}
