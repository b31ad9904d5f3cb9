package dev.millrace.verify;

import dev.millrace.parquet.Form;
import dev.millrace.parquet.Values;
import java.nio.ByteBuffer;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.HexFormat;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;

/** A few values of a row, for people: {@code id=3, updated_at=2026-09-20 18:15:00}. Stateless. */
final class ShownRow {
  private static final int MOST_VALUE = 64;
  private static final int MOST_COLUMNS = 4;
  private static final LocalDateTime EPOCH = LocalDateTime.ofEpochSecond(0, 0, ZoneOffset.UTC);

  private ShownRow() {}

  /** Returns which columns show a row best: its primary key and its update key. */
  static List<String> columns(Shapes shapes, List<String> primaryKey, String updateKey) {
    Set<String> known = new LinkedHashSet<>();
    shapes.cells().forEach(cell -> known.add(cell.name()));
    Set<String> names = new LinkedHashSet<>();
    if (shapes.identified()) {
      names.addAll(primaryKey);
    } else {
      known.stream().limit(MOST_COLUMNS).forEach(names::add);
    }
    if (known.contains(updateKey)) {
      names.add(updateKey);
    }
    return List.copyOf(names);
  }

  /** Adds a value to the text of a row. */
  static void add(StringBuilder text, String name, String value) {
    text.append(text.isEmpty() ? "" : ", ").append(name).append('=');
    if (value == null) {
      text.append("NULL");
    } else if (value.codePointCount(0, value.length()) <= MOST_VALUE) {
      text.append(value);
    } else {
      text.append(value, 0, value.offsetByCodePoints(0, MOST_VALUE / 2)).append('…');
    }
  }

  /** Returns a value of the lake; null for NULL. */
  static String value(Values row, int column, Form form) {
    if (row.isNull(column)) {
      return null;
    }
    if (form.depth() > 0) {
      return "(a list)";
    }
    return switch (form.kind()) {
      case NUMBER, TEXT -> row.textAt(column);
      case BYTES -> "\\x" + HexFormat.of().formatHex(row.bytesAt(column));
      case UUID -> {
        ByteBuffer bytes = ByteBuffer.wrap(row.bytesAt(column));
        yield new UUID(bytes.getLong(), bytes.getLong()).toString();
      }
      case FLOAT -> Float.toString(ByteBuffer.wrap(row.bytesAt(column)).getFloat());
      case DOUBLE -> Double.toString(ByteBuffer.wrap(row.bytesAt(column)).getDouble());
      case BOOLEAN -> row.bytesAt(column)[0] == 0 ? "f" : "t";
      case DATE -> LocalDate.ofEpochDay(row.longAt(column)).toString();
      case TIME -> LocalTime.MIDNIGHT.plus(row.longAt(column), ChronoUnit.MICROS).toString();
      case TIMESTAMP ->
          EPOCH.plus(row.longAt(column), ChronoUnit.MICROS).toString().replace('T', ' ');
    };
  }
}
