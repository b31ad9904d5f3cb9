package dev.millrace.clickhouse;

import java.util.List;

/** Placeholder until the adapter's own parser is merged. */
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
  public enum Kind {
    INT8, INT16, INT32, INT64, INT128, INT256, UINT8, UINT16, UINT32, UINT64, UINT128, UINT256,
    FLOAT32, FLOAT64, DECIMAL, STRING, FIXED_STRING, UUID, DATE, DATE32, DATETIME, DATETIME64,
    BOOL, ENUM8, ENUM16, IPV4, IPV6, ARRAY, OTHER
  }

  public static ClickHouseType parse(String text) {
    return parse(text, text, false, false);
  }

  private static ClickHouseType parse(String whole, String t, boolean n, boolean lc) {
    int open = t.indexOf('(');
    String name = open < 0 ? t : t.substring(0, open);
    String in = open < 0 ? "" : t.substring(open + 1, t.length() - 1);
    switch (name) {
      case "Nullable": return parse(whole, in, true, lc);
      case "LowCardinality": return parse(whole, in, n, true);
      case "Array": return new ClickHouseType(whole, Kind.ARRAY, n, lc, 0, 0, null, List.of(), List.of(), parse(in));
      case "Decimal": {
        String[] p = in.split(",");
        return of(whole, Kind.DECIMAL, n, lc, Integer.parseInt(p[0].trim()), Integer.parseInt(p[1].trim()), null);
      }
      case "FixedString": return of(whole, Kind.FIXED_STRING, n, lc, Integer.parseInt(in), 0, null);
      case "DateTime": return of(whole, Kind.DATETIME, n, lc, 0, 0, in.isEmpty() ? null : in.substring(1, in.length() - 1));
      case "DateTime64": {
        String[] p = in.split(",", 2);
        return of(whole, Kind.DATETIME64, n, lc, Integer.parseInt(p[0].trim()), 0, p.length == 1 ? null : p[1].trim().substring(1, p[1].trim().length() - 1));
      }
      case "Enum8": case "Enum16": {
        List<String> names = new java.util.ArrayList<>();
        List<Integer> values = new java.util.ArrayList<>();
        var m = java.util.regex.Pattern.compile("'((?:[^'\\\\]|\\\\.)*)'\\s*=\\s*(-?\\d+)").matcher(in);
        while (m.find()) { names.add(m.group(1).replaceAll("\\\\(.)", "$1")); values.add(Integer.valueOf(m.group(2))); }
        return new ClickHouseType(whole, name.equals("Enum8") ? Kind.ENUM8 : Kind.ENUM16, n, lc, 0, 0, null, names, values, null);
      }
      default:
        for (Kind k : Kind.values()) {
          if (k != Kind.OTHER && k.name().replace("_", "").equalsIgnoreCase(name)) {
            return of(whole, k, n, lc, 0, 0, null);
          }
        }
        return of(whole, Kind.OTHER, n, lc, 0, 0, null);
    }
  }

  private static ClickHouseType of(String w, Kind k, boolean n, boolean lc, int p, int s, String tz) {
    return new ClickHouseType(w, k, n, lc, p, s, tz, List.of(), List.of(), null);
  }
}
