package dev.millrace.clickhouse;

import com.clickhouse.client.api.data_formats.ClickHouseBinaryFormatReader;
import java.util.UUID;

/** The current row of a result; columns count from 1. Only valid while it is read. */
public final class Row {
  private final ClickHouseBinaryFormatReader reader;

  Row(ClickHouseBinaryFormatReader reader) {
    this.reader = reader;
  }

  /** Returns a value as text; null for NULL. */
  public String text(int column) {
    return reader.hasValue(column) ? reader.getString(column) : null;
  }

  /** Returns an integer that fits into 64 bits with a sign; must not be NULL. */
  public long number(int column) {
    return reader.getLong(column);
  }

  /** Returns a Bool, or whether a number is not 0; must not be NULL. */
  public boolean flag(int column) {
    return reader.getBoolean(column);
  }

  /** Returns a UUID; must not be NULL. */
  public UUID uuid(int column) {
    return reader.getUUID(column);
  }

  /** Reads one row into a value. */
  @FunctionalInterface
  public interface Reader<T> {
    /** Returns what the row holds; must not keep it. */
    T read(Row row);
  }
}
