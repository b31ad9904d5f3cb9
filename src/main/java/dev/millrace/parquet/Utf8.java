package dev.millrace.parquet;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;

/** Tells UTF-8 from other bytes: a SQL_ASCII database hands out whatever was put in. */
final class Utf8 {
  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
  private static final long HIGH_BITS = 0x8080808080808080L;

  private Utf8() {}

  /**
   * Returns whether the bytes are well-formed UTF-8.
   *
   * @param prefix the first 8 of them, filled up with zeros: most values are no longer
   */
  static boolean isValid(long prefix, byte[] data, int offset, int length) {
    long bits = prefix;
    if (length > Long.BYTES) {
      int last = offset + length - Long.BYTES;
      for (int position = offset + Long.BYTES; position < last; position += Long.BYTES) {
        bits |= (long) LONG.get(data, position);
      }
      bits |= (long) LONG.get(data, last);
    }
    return (bits & HIGH_BITS) == 0 || decodes(data, offset, offset + length);
  }

  /** The same rules as the standard's table of well-formed sequences (Unicode, table 3-7). */
  private static boolean decodes(byte[] data, int from, int end) {
    int position = from;
    while (position < end) {
      int length = sequence(data, position, end);
      if (length == 0) {
        return false;
      }
      position += length;
    }
    return true;
  }

  /** Returns the length of the sequence that starts here, 0 when it is not well-formed. */
  private static int sequence(byte[] data, int at, int end) {
    int first = data[at] & 0xff;
    if (first < 0x80) {
      return 1;
    }
    if (first < 0xc2 || first > 0xf4) {
      return 0;
    }
    int length = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    if (at + length > end) {
      return 0;
    }
    int second = data[at + 1] & 0xff;
    int least = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
    int most = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
    if (second < least || second > most) {
      return 0;
    }
    for (int i = 2; i < length; i++) {
      if ((data[at + i] & 0xc0) != 0x80) {
        return 0;
      }
    }
    return length;
  }

  /** Returns the text, or null when the bytes are not UTF-8. */
  static String decode(byte[] data, int offset, int length) {
    try {
      return StandardCharsets.UTF_8
          .newDecoder()
          .onMalformedInput(CodingErrorAction.REPORT)
          .onUnmappableCharacter(CodingErrorAction.REPORT)
          .decode(ByteBuffer.wrap(data, offset, length))
          .toString();
    } catch (CharacterCodingException e) {
      return null;
    }
  }
}
