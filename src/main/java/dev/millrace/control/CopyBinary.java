package dev.millrace.control;

import dev.millrace.control.ProjectedRecord.Column;
import dev.millrace.control.ProjectedRecord.Kind;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.time.DateTimeException;
import java.time.LocalDate;
import java.util.List;
import org.postgresql.copy.CopyIn;

/**
 * Sends records in the binary format of <a
 * href="https://www.postgresql.org/docs/current/sql-copy.html">COPY</a>, a piece at a time, so that
 * the server works while the next piece is made.
 *
 * <p>Only values in the form that a writer gives them are taken; any other is left to the server's
 * own reading of texts, which is not to be had here. For one thread.
 */
final class CopyBinary {
  private static final int PIECE = 1 << 16;
  private static final byte[] SIGNATURE = {
    'P', 'G', 'C', 'O', 'P', 'Y', '\n', (byte) 0xff, '\r', '\n', 0
  };
  private static final byte JSONB_VERSION = 1;
  private static final int NULL_LENGTH = -1;

  /** Days and microseconds are counted from here. */
  private static final long EPOCH_DAY = LocalDate.of(2000, 1, 1).toEpochDay();

  private static final long MICROS_OF_SECOND = 1_000_000;

  private final CopyIn copy;
  private final List<Column> columns;
  private ByteBuffer buffer = ByteBuffer.allocate(2 * PIECE);

  private CopyBinary(CopyIn copy, Kind kind) {
    this.copy = copy;
    this.columns = kind.columns();
  }

  /**
   * Sends all records and ends the COPY; on an exception it is ended, too.
   *
   * @param kind that of all records
   * @throws SQLException of class 22 when a value is not in its usual form
   */
  static void send(CopyIn copy, Kind kind, List<ProjectedRecord> records) throws SQLException {
    try {
      CopyBinary binary = new CopyBinary(copy, kind);
      binary.buffer.put(SIGNATURE).putInt(0).putInt(0);
      for (ProjectedRecord record : records) {
        binary.add(record);
      }
      binary.buffer.putShort((short) -1);
      binary.flush();
      copy.endCopy();
    } finally {
      if (copy.isActive()) {
        copy.cancelCopy();
      }
    }
  }

  private void add(ProjectedRecord record) throws SQLException {
    if (buffer.position() >= PIECE) {
      flush();
    }
    buffer.putShort((short) columns.size());
    for (int i = 0; i < columns.size(); i++) {
      String value = record.values().get(i);
      if (value == null) {
        buffer.putInt(NULL_LENGTH);
      } else {
        add(columns.get(i), value);
      }
    }
  }

  private void add(Column column, String value) throws SQLException {
    switch (column.type()) {
      case TEXT -> {
        byte[] bytes = value.getBytes(StandardCharsets.UTF_8);
        reserve(bytes.length);
        buffer.putInt(bytes.length).put(bytes);
      }
      case JSON -> {
        byte[] bytes = value.getBytes(StandardCharsets.UTF_8);
        reserve(bytes.length);
        buffer.putInt(1 + bytes.length).put(JSONB_VERSION).put(bytes);
      }
      case INTEGER -> buffer.putInt(Integer.BYTES).putInt(integer(column, value));
      case BIGINT -> buffer.putInt(Long.BYTES).putLong(whole(column, value));
      // No table with such a column is copied to.
      case BOOLEAN -> throw unusual(column);
      case DATE -> buffer.putInt(Integer.BYTES).putInt((int) day(column, value, value.length()));
      case INSTANT -> buffer.putInt(Long.BYTES).putLong(micros(column, value));
    }
  }

  /** Makes room for a value and for all that has a fixed length until the next one. */
  private void reserve(int bytes) {
    int room = bytes + PIECE / 2;
    if (buffer.remaining() < room) {
      ByteBuffer larger = ByteBuffer.allocate(2 * (buffer.position() + room));
      buffer = larger.put(buffer.flip());
    }
  }

  private void flush() throws SQLException {
    copy.writeToCopy(buffer.array(), 0, buffer.position());
    buffer.clear();
  }

  private static int integer(Column column, String value) throws SQLException {
    long number = whole(column, value);
    if (number != (int) number) {
      throw unusual(column);
    }
    return (int) number;
  }

  private static long whole(Column column, String value) throws SQLException {
    for (int i = value.startsWith("-") ? 1 : 0; i < value.length(); i++) {
      digit(column, value, i);
    }
    try {
      return Long.parseLong(value);
    } catch (NumberFormatException exception) {
      throw unusual(column);
    }
  }

  /** Reads {@code YYYY-MM-DD}. */
  private static long day(Column column, String value, int length) throws SQLException {
    if (length != 10 || value.charAt(4) != '-' || value.charAt(7) != '-') {
      throw unusual(column);
    }
    int year = digits(column, value, 0, 4);
    if (year == 0) {
      throw unusual(column);
    }
    try {
      LocalDate date =
          LocalDate.of(year, digits(column, value, 5, 7), digits(column, value, 8, 10));
      return date.toEpochDay() - EPOCH_DAY;
    } catch (DateTimeException exception) {
      throw unusual(column);
    }
  }

  /** Reads {@code YYYY-MM-DDTHH:MM:SS[.ffffff]+00:00}. */
  private static long micros(Column column, String value) throws SQLException {
    int zone = value.length() - 6;
    boolean fraction = zone == 26;
    if ((zone != 19 && !fraction)
        || value.charAt(10) != 'T'
        || value.charAt(13) != ':'
        || value.charAt(16) != ':'
        || (fraction && value.charAt(19) != '.')
        || !value.endsWith("+00:00")) {
      throw unusual(column);
    }
    int hour = digits(column, value, 11, 13);
    int minute = digits(column, value, 14, 16);
    int second = digits(column, value, 17, 19);
    if (hour > 23 || minute > 59 || second > 59) {
      throw unusual(column);
    }
    long day = day(column, value, 10);
    long micros = fraction ? digits(column, value, 20, 26) : 0;
    return (day * 86_400 + hour * 3_600L + minute * 60L + second) * MICROS_OF_SECOND + micros;
  }

  private static int digits(Column column, String value, int from, int to) throws SQLException {
    int number = 0;
    for (int i = from; i < to; i++) {
      number = 10 * number + digit(column, value, i);
    }
    return number;
  }

  private static int digit(Column column, String value, int index) throws SQLException {
    int digit = value.charAt(index) - '0';
    if (digit < 0 || digit > 9) {
      throw unusual(column);
    }
    return digit;
  }

  private static SQLException unusual(Column column) {
    return new SQLException(column.name() + " is not in its usual form", "22000");
  }
}
