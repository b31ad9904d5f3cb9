package dev.millrace.refresh;

import dev.millrace.clickhouse.RowBinary;
import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * Turns a value of <a href="https://www.postgresql.org/docs/current/sql-copy.html">binary COPY</a>
 * into one of <a href="https://clickhouse.com/docs/en/interfaces/formats/RowBinary">RowBinary</a>,
 * without an object. Not thread-safe.
 */
interface ValueEncoder {
  VarHandle SHORT_BE = MethodHandles.byteArrayViewVarHandle(short[].class, ByteOrder.BIG_ENDIAN);
  VarHandle INT_BE = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.BIG_ENDIAN);
  VarHandle LONG_BE = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);

  /**
   * Encodes one value.
   *
   * @throws ValueException when it has no place in the target's type
   * @throws IOException when what is full can't be sent
   */
  void encode(byte[] data, int place, int length, RowBinary row) throws IOException;

  /** Makes sure that a value has the length that its type has on the wire. */
  static void check(String type, int length, int expected) {
    if (length != expected) {
      throw new IllegalStateException("a %s of %d bytes".formatted(type, length));
    }
  }
}
