package dev.millrace.parquet;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/** Writes the binary COPY format, as Postgres' documentation describes it. */
final class CopyStream {
  private static final BigInteger BASE = BigInteger.valueOf(10_000);

  private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
  private final DataOutputStream data = new DataOutputStream(bytes);

  CopyStream() {
    try {
      data.write(new byte[] {'P', 'G', 'C', 'O', 'P', 'Y', '\n', (byte) 0xff, '\r', '\n', 0});
      data.writeInt(0);
      data.writeInt(0);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Appends a row; a null is NULL. */
  CopyStream row(byte[]... fields) {
    try {
      data.writeShort(fields.length);
      for (byte[] field : fields) {
        data.writeInt(field == null ? -1 : field.length);
        if (field != null) {
          data.write(field);
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return this;
  }

  byte[] withoutTrailer() {
    return bytes.toByteArray();
  }

  byte[] end() {
    bytes.writeBytes(new byte[] {(byte) 0xff, (byte) 0xff});
    return bytes.toByteArray();
  }

  static byte[] int4(int value) {
    return ByteBuffer.allocate(Integer.BYTES).putInt(value).array();
  }

  static byte[] text(String value) {
    return value == null ? null : value.getBytes(StandardCharsets.UTF_8);
  }

  /**
   * An array with lower bounds of 1.
   *
   * @param elements in row-major order; a null is NULL
   * @param sizes of its dimensions; none for {@code {}}
   */
  static byte[] array(List<byte[]> elements, int... sizes) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    DataOutputStream wire = new DataOutputStream(bytes);
    try {
      wire.writeInt(sizes.length);
      wire.writeInt(elements.stream().anyMatch(Objects::isNull) ? 1 : 0);
      wire.writeInt(0);
      for (int size : sizes) {
        wire.writeInt(size);
        wire.writeInt(1);
      }
      for (byte[] element : elements) {
        wire.writeInt(element == null ? -1 : element.length);
        if (element != null) {
          wire.write(element);
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return bytes.toByteArray();
  }

  /** The base-10000 digits of a number, without zeros at either end. */
  static byte[] numeric(BigDecimal value) {
    int scale = Math.max(0, value.scale());
    int groups = (scale + 3) / 4;
    BigInteger rest = value.abs().movePointRight(4 * groups).toBigIntegerExact();
    List<Integer> digits = new ArrayList<>();
    while (rest.signum() != 0) {
      digits.add(0, rest.mod(BASE).intValue());
      rest = rest.divide(BASE);
    }
    int weight = digits.size() - groups - 1;
    while (!digits.isEmpty() && digits.get(digits.size() - 1) == 0) {
      digits.remove(digits.size() - 1);
    }
    ByteBuffer wire = ByteBuffer.allocate(8 + 2 * digits.size());
    wire.putShort((short) digits.size());
    wire.putShort((short) (digits.isEmpty() ? 0 : weight));
    wire.putShort((short) (value.signum() < 0 ? 0x4000 : 0));
    wire.putShort((short) scale);
    digits.forEach(digit -> wire.putShort(digit.shortValue()));
    return wire.array();
  }
}
