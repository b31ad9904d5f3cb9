package dev.millrace.refresh;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.function.Function;

/** Rows of many types whose values a seed decides, edges more often than chance would. */
final class RandomRows {
  private static final String LETTERS = "abcXYZ019 ,;:'\"\\\t\n|{}%`~é日ĝ🦀";

  private final Random random;

  RandomRows(long seed) {
    random = new Random(seed);
  }

  /** A column of both tables, and what makes a literal for it. */
  private record Kind(String source, String target, Function<RandomRows, String> literal) {}

  private static final List<Kind> KINDS =
      List.of(
          new Kind("int2", "Nullable(Int16)", rows -> rows.integer(16)),
          new Kind("int4", "Nullable(Int64)", rows -> rows.integer(32)),
          new Kind("int8", "Nullable(Int64)", rows -> rows.integer(64)),
          new Kind("int8", "Nullable(Decimal(38, 6))", rows -> rows.integer(64)),
          new Kind("numeric(12,2)", "Nullable(Decimal(12, 2))", rows -> rows.decimal(12, 2)),
          new Kind("numeric", "Nullable(Decimal(76, 38))", rows -> rows.decimal(76, 38)),
          new Kind("numeric(30,10)", "Nullable(Decimal(38, 12))", rows -> rows.decimal(30, 10)),
          new Kind("numeric", "Nullable(UInt128)", rows -> rows.unsigned(128)),
          new Kind("numeric", "Nullable(Int256)", rows -> rows.integer(256)),
          new Kind("float4", "Nullable(Float32)", RandomRows::real),
          new Kind("float8", "Nullable(Float64)", RandomRows::real),
          new Kind("bool", "Nullable(Bool)", rows -> rows.random.nextBoolean() ? "true" : "false"),
          new Kind("text", "Nullable(String)", rows -> rows.text(20)),
          new Kind("text", "LowCardinality(Nullable(String))", rows -> rows.text(2)),
          new Kind("char(8)", "Nullable(String)", rows -> rows.text(5)),
          new Kind("bytea", "Nullable(String)", RandomRows::bytes),
          new Kind("uuid", "Nullable(UUID)", RandomRows::uuid),
          new Kind("date", "Nullable(Date32)", RandomRows::date),
          new Kind("timestamp", "Nullable(DateTime64(6, 'UTC'))", RandomRows::time),
          new Kind("timestamptz", "Nullable(DateTime64(7, 'Asia/Kathmandu'))", RandomRows::time),
          new Kind("inet", "Nullable(IPv4)", RandomRows::address),
          new Kind(
              "int4[]", "Array(Nullable(Int32))", rows -> rows.array("int4", r -> r.integer(32))),
          new Kind("text[]", "Array(Nullable(String))", rows -> rows.array("text", r -> r.text(9))),
          new Kind(
              "numeric(9,3)[]",
              "Array(Nullable(Decimal(9, 3)))",
              rows -> rows.array("numeric(9,3)", r -> r.decimal(9, 3))));

  /** Returns the columns' definitions in Postgres: {@code c0 int2, …}. */
  static String definitions() {
    List<String> definitions = new ArrayList<>();
    for (int i = 0; i < KINDS.size(); i++) {
      definitions.add("c%d %s".formatted(i, KINDS.get(i).source()));
    }
    return String.join(", ", definitions);
  }

  /** Returns the columns' types in ClickHouse. */
  static List<String> targets() {
    return KINDS.stream().map(Kind::target).toList();
  }

  /** Returns a row's literals with commas. */
  String row() {
    List<String> literals = new ArrayList<>();
    for (Kind kind : KINDS) {
      boolean array = kind.source().endsWith("[]");
      literals.add(!array && random.nextInt(8) == 0 ? "NULL" : kind.literal().apply(this));
    }
    return String.join(", ", literals);
  }

  private String quoted(String value) {
    return "'" + value.replace("'", "''") + "'";
  }

  private String integer(int bits) {
    BigInteger value =
        switch (random.nextInt(5)) {
          case 0 -> BigInteger.ONE.shiftLeft(bits - 1).negate();
          case 1 -> BigInteger.ONE.shiftLeft(bits - 1).subtract(BigInteger.ONE);
          case 2 -> BigInteger.valueOf(random.nextInt(3) - 1);
          default -> new BigInteger(random.nextInt(bits), random).negate();
        };
    return "'" + value + "'";
  }

  private String unsigned(int bits) {
    return "'" + new BigInteger(random.nextInt(bits + 1), random) + "'";
  }

  private String decimal(int precision, int scale) {
    int digits = 1 + random.nextInt(precision);
    BigInteger unscaled =
        random.nextInt(5) == 0
            ? BigInteger.TEN.pow(precision).subtract(BigInteger.ONE)
            : new BigInteger(random.nextInt(digits * 3) + 1, random);
    BigDecimal value = new BigDecimal(random.nextBoolean() ? unscaled : unscaled.negate(), scale);
    return "'" + value.toPlainString() + "'";
  }

  private String real() {
    return switch (random.nextInt(6)) {
      case 0 -> "'NaN'";
      case 1 -> "'-Infinity'";
      case 2 -> "'-0'";
      default -> "'" + Float.intBitsToFloat(random.nextInt() & 0x7f7fffff) + "'";
    };
  }

  private String text(int most) {
    StringBuilder text = new StringBuilder();
    int[] letters = LETTERS.codePoints().toArray();
    int length = random.nextInt(most + 1);
    for (int i = 0; i < length; i++) {
      text.appendCodePoint(letters[random.nextInt(letters.length)]);
    }
    return quoted(text.toString());
  }

  private String bytes() {
    byte[] bytes = new byte[random.nextInt(9)];
    random.nextBytes(bytes);
    return "'\\x" + HexFormat.of().formatHex(bytes) + "'";
  }

  private String uuid() {
    return "'" + new java.util.UUID(random.nextLong(), random.nextLong()) + "'";
  }

  private String date() {
    return "'" + LocalDate.of(1900, 1, 1).plusDays(random.nextInt(146_097)) + "'";
  }

  private String time() {
    LocalDateTime time =
        LocalDateTime.of(1900, 1, 1, 0, 0)
            .plusSeconds((long) (random.nextDouble() * 12_600_000_000L))
            .plusNanos(1000L * random.nextInt(1_000_000));
    return "'" + time + "'";
  }

  private String address() {
    byte[] bytes = new byte[4];
    random.nextBytes(bytes);
    return "'%d.%d.%d.%d'"
        .formatted(bytes[0] & 0xff, bytes[1] & 0xff, bytes[2] & 0xff, bytes[3] & 0xff);
  }

  private String array(String type, Function<RandomRows, String> element) {
    List<String> elements = new ArrayList<>();
    int count = random.nextInt(4);
    for (int i = 0; i < count; i++) {
      elements.add(random.nextInt(4) == 0 ? "NULL" : element.apply(this));
    }
    return "ARRAY[%s]::%s[]".formatted(String.join(", ", elements), type);
  }
}
