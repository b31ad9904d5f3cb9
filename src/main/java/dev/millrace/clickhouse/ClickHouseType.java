package dev.millrace.clickhouse;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * A column's type, read from the catalogue's text; see <a
 * href="https://clickhouse.com/docs/sql-reference/data-types">data types</a>.
 *
 * @param text the whole text, such as {@code LowCardinality(Nullable(String))}
 * @param kind what it is inside of {@code Nullable} and {@code LowCardinality}
 * @param nullable whether NULL is a value of it
 * @param lowCardinality whether it is kept by a dictionary
 * @param precision the digits of a decimal, those after the second of a time, or the octets of a
 *     FixedString; else 0
 * @param scale the digits of a decimal after the point; else 0
 * @param timezone the zone of a time; null for the server's, and for other kinds
 * @param names the names of an enum, in order; else empty
 * @param values the number of each name
 * @param element the type of an array's elements; else null
 */
public record ClickHouseType(
    String text,
    Kind kind,
    boolean nullable,
    boolean lowCardinality,
    int precision,
    int scale,
    String timezone,
    List<String> names,
    List<Integer> values,
    ClickHouseType element) {

  /** A family of types. */
  public enum Kind {
    INT8,
    INT16,
    INT32,
    INT64,
    INT128,
    INT256,
    UINT8,
    UINT16,
    UINT32,
    UINT64,
    UINT128,
    UINT256,
    FLOAT32,
    FLOAT64,
    DECIMAL,
    STRING,
    FIXED_STRING,
    UUID,
    DATE,
    DATE32,
    DATETIME,
    DATETIME64,
    BOOL,
    ENUM8,
    ENUM16,
    IPV4,
    IPV6,
    ARRAY,
    /** Any other: tuples, maps, JSON, aggregate states, and what is newer than this list. */
    OTHER
  }

  public ClickHouseType {
    names = List.copyOf(names);
    values = List.copyOf(values);
  }

  /**
   * Reads a type.
   *
   * @param text as in system.columns
   * @return of kind {@code OTHER} where it is none that is known
   */
  public static ClickHouseType parse(String text) {
    String inner = text.strip();
    boolean lowCardinality = false;
    boolean nullable = false;
    for (Call call = Call.of(inner); call != null; call = Call.of(inner)) {
      if (call.name.equals("LowCardinality")) {
        lowCardinality = true;
      } else if (call.name.equals("Nullable")) {
        nullable = true;
      } else {
        break;
      }
      inner = call.arguments;
    }
    return new Parser(text.strip(), nullable, lowCardinality).parse(inner);
  }

  /** {@code Name(arguments)}. */
  private record Call(String name, String arguments) {
    /** Returns null for text without arguments. */
    static Call of(String text) {
      int open = text.indexOf('(');
      return open < 0 || !text.endsWith(")")
          ? null
          : new Call(text.substring(0, open), text.substring(open + 1, text.length() - 1).strip());
    }
  }

  private record Parser(String whole, boolean nullable, boolean lowCardinality) {

    ClickHouseType parse(String text) {
      Call call = Call.of(text);
      return call == null ? plain(text) : withArguments(call, split(call.arguments));
    }

    private ClickHouseType plain(String name) {
      return switch (name) {
        case "DateTime64" -> scalar(Kind.DATETIME64, 3, 0, null);
        case "Int8", "Int16", "Int32", "Int64", "Int128", "Int256" -> scalar(named(name));
        case "UInt8", "UInt16", "UInt32", "UInt64", "UInt128", "UInt256" -> scalar(named(name));
        case "Float32", "Float64", "String", "UUID", "Date", "Date32" -> scalar(named(name));
        case "DateTime", "Bool", "IPv4", "IPv6" -> scalar(named(name));
        default -> scalar(Kind.OTHER);
      };
    }

    private static Kind named(String name) {
      return Kind.valueOf(name.toUpperCase(Locale.ROOT));
    }

    private ClickHouseType withArguments(Call call, List<String> arguments) {
      String first = arguments.isEmpty() ? "" : arguments.get(0);
      String second = arguments.size() < 2 ? null : arguments.get(1);
      return switch (call.name) {
        case "Decimal" ->
            scalar(Kind.DECIMAL, number(first), second == null ? 0 : number(second), null);
        case "Decimal32" -> scalar(Kind.DECIMAL, 9, number(first), null);
        case "Decimal64" -> scalar(Kind.DECIMAL, 18, number(first), null);
        case "Decimal128" -> scalar(Kind.DECIMAL, 38, number(first), null);
        case "Decimal256" -> scalar(Kind.DECIMAL, 76, number(first), null);
        case "FixedString" -> scalar(Kind.FIXED_STRING, number(first), 0, null);
        case "DateTime" -> scalar(Kind.DATETIME, 0, 0, unquoted(first));
        case "DateTime64" ->
            scalar(Kind.DATETIME64, number(first), 0, second == null ? null : unquoted(second));
        case "Enum8" -> enumeration(Kind.ENUM8, arguments);
        case "Enum16" -> enumeration(Kind.ENUM16, arguments);
        case "Array" ->
            new ClickHouseType(
                whole,
                Kind.ARRAY,
                nullable,
                lowCardinality,
                0,
                0,
                null,
                List.of(),
                List.of(),
                ClickHouseType.parse(call.arguments));
        default -> scalar(Kind.OTHER);
      };
    }

    private ClickHouseType scalar(Kind kind) {
      return scalar(kind, 0, 0, null);
    }

    private ClickHouseType scalar(Kind kind, int precision, int scale, String timezone) {
      return new ClickHouseType(
          whole,
          kind,
          nullable,
          lowCardinality,
          precision,
          scale,
          timezone,
          List.of(),
          List.of(),
          null);
    }

    private ClickHouseType enumeration(Kind kind, List<String> arguments) {
      List<String> names = new ArrayList<>();
      List<Integer> values = new ArrayList<>();
      for (String argument : arguments) {
        int end = SqlText.endOfToken(argument, 0);
        names.add(unquoted(argument.substring(0, end)));
        values.add(number(argument.substring(argument.indexOf('=', end) + 1)));
      }
      return new ClickHouseType(
          whole, kind, nullable, lowCardinality, 0, 0, null, names, values, null);
    }

    private static int number(String text) {
      return Integer.parseInt(text.strip());
    }
  }

  /** Splits at commas that are outside of quotes and parentheses. */
  static List<String> split(String text) {
    List<String> parts = new ArrayList<>();
    int depth = 0;
    int start = 0;
    int position = 0;
    while (position < text.length()) {
      char character = text.charAt(position);
      if (character == '(') {
        depth++;
      } else if (character == ')') {
        depth--;
      } else if (character == ',' && depth == 0) {
        parts.add(text.substring(start, position).strip());
        start = position + 1;
      }
      position = SqlText.endOfToken(text, position);
    }
    String last = text.substring(start).strip();
    if (!last.isEmpty()) {
      parts.add(last);
    }
    return parts;
  }

  /** Returns a string literal's value. */
  static String unquoted(String literal) {
    StringBuilder value = new StringBuilder();
    String inner = literal.substring(1, literal.length() - 1);
    for (int position = 0; position < inner.length(); position++) {
      char character = inner.charAt(position);
      if (character == '\\' && position + 1 < inner.length()) {
        position++;
        value.append(escaped(inner.charAt(position)));
      } else {
        value.append(character);
      }
    }
    return value.toString();
  }

  private static char escaped(char character) {
    return switch (character) {
      case 'n' -> '\n';
      case 't' -> '\t';
      case 'r' -> '\r';
      case 'b' -> '\b';
      case 'f' -> '\f';
      case '0' -> '\0';
      default -> character;
    };
  }
}
