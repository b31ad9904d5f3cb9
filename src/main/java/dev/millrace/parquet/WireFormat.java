package dev.millrace.parquet;

import dev.millrace.postgres.ColumnType;
import dev.millrace.postgres.ColumnType.Wire;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.HexFormat;

/**
 * Rules of single values of the binary format, whose epoch is 2000-01-01 (Postgres' {@code
 * datatype/timestamp.h}). Stateless.
 */
final class WireFormat {
  /** Days from 1970-01-01 to 2000-01-01. */
  private static final int EPOCH_DAYS = 10_957;

  private static final long DAY_MICROS = 86_400_000_000L;
  private static final long EPOCH_MICROS = EPOCH_DAYS * DAY_MICROS;

  /** Days from 2000-01-01 back to 4714-11-24 BC, Postgres' first. */
  static final int FIRST_DATE = -2_451_545;

  /** Days from 2000-01-01 to 5874897-12-31, Postgres' last. */
  static final int LAST_DATE = 2_145_031_948;

  static final long FIRST_TIMESTAMP = FIRST_DATE * DAY_MICROS;

  /** What microseconds since 1970 in 64 bits can hold. */
  static final long LAST_TIMESTAMP = Long.MAX_VALUE - EPOCH_MICROS;

  private static final int SHOWN_BYTES = 64;

  private WireFormat() {}

  static void check(Wire wire, int length, int expected) {
    if (length != expected) {
      throw new IllegalStateException("a %s of %d bytes".formatted(wire, length));
    }
  }

  static boolean isInfinite(int days) {
    return days == Integer.MAX_VALUE || days == Integer.MIN_VALUE;
  }

  static boolean isInfinite(long micros) {
    return micros == Long.MAX_VALUE || micros == Long.MIN_VALUE;
  }

  private static ValueException infinite(boolean positive, String type) {
    return new ValueException(
        "is %s, which %s can't hold".formatted(positive ? "infinity" : "-infinity", type),
        "take it as NULL or the end of the range (infinity: null or clamp)");
  }

  /** Returns days since 1970-01-01. */
  static int date(int days) {
    if (isInfinite(days)) {
      throw infinite(days > 0, "DATE");
    }
    return days + EPOCH_DAYS;
  }

  /** Returns microseconds since 1970-01-01 00:00. */
  static long timestamp(long micros) {
    if (isInfinite(micros)) {
      throw infinite(micros > 0, "TIMESTAMP");
    }
    if (micros > LAST_TIMESTAMP) {
      throw new ValueException(
          "is later than 294247-01-10 04:00:54.775807, the last TIMESTAMP in microseconds");
    }
    return micros + EPOCH_MICROS;
  }

  /** Returns microseconds since midnight. */
  static long time(long micros) {
    if (micros >= DAY_MICROS) {
      throw new ValueException("is 24:00:00, which is after the last TIME of a day");
    }
    return micros;
  }

  /** Returns a value as people write it, shortened; for messages. */
  static String show(ColumnType type, byte[] data, int place, int length) {
    ByteBuffer value = ByteBuffer.wrap(data, place, length);
    return switch (type.wire()) {
      case BOOL -> value.get() == 0 ? "false" : "true";
      case INT2 -> Short.toString(value.getShort());
      case INT4 -> Integer.toString(value.getInt());
      case INT8 -> Long.toString(value.getLong());
      case FLOAT4 -> Float.toString(value.getFloat());
      case FLOAT8 -> Double.toString(value.getDouble());
      case NUMERIC -> numeric(type, data, place, length);
      case TEXT -> text(data, place, length);
      case JSONB -> text(data, place + 1, length - 1);
      case BYTEA -> "\\x" + HexFormat.of().formatHex(data, place, place + shown(length));
      case UUID -> new java.util.UUID(value.getLong(), value.getLong()).toString();
      case DATE -> LocalDate.ofEpochDay((long) value.getInt() + EPOCH_DAYS).toString();
      case TIME -> LocalTime.MIDNIGHT.plus(value.getLong(), ChronoUnit.MICROS).toString();
      case TIMESTAMP -> dateTime(value.getLong());
      case TIMESTAMPTZ -> dateTime(value.getLong()) + "Z";
    };
  }

  private static String numeric(ColumnType type, byte[] data, int place, int length) {
    NumericWire numeric = new NumericWire(type);
    try {
      numeric.decodeWide(data, place, length);
    } catch (ValueException e) {
      return "a number that " + e.getMessage();
    }
    byte[] unscaled = new byte[2 * Long.BYTES];
    ByteBuffer.wrap(unscaled).putLong(numeric.high()).putLong(numeric.low());
    return new BigDecimal(new BigInteger(unscaled), type.scale()).toPlainString();
  }

  private static String text(byte[] data, int place, int length) {
    String text = Utf8.decode(data, place, length);
    if (text == null) {
      return "\\x" + HexFormat.of().formatHex(data, place, place + shown(length));
    }
    return text.length() <= SHOWN_BYTES ? "'" + text + "'" : "'" + shorten(text) + "…'";
  }

  private static String shorten(String text) {
    return text.substring(
        0,
        text.offsetByCodePoints(
            0, Math.min(SHOWN_BYTES / 2, text.codePointCount(0, text.length()))));
  }

  private static int shown(int length) {
    return Math.min(length, SHOWN_BYTES);
  }

  private static String dateTime(long micros) {
    if (isInfinite(micros)) {
      return micros > 0 ? "infinity" : "-infinity";
    }
    long seconds = Math.floorDiv(micros, 1_000_000L) + EPOCH_DAYS * 86_400L;
    int nanos = (int) Math.floorMod(micros, 1_000_000L) * 1000;
    return LocalDateTime.ofEpochSecond(seconds, nanos, ZoneOffset.UTC).toString().replace('T', ' ');
  }
}
