package dev.millrace.clickhouse;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.math.BigInteger;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.UUID;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.BigRange;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

class RowBinaryTest {

  @FunctionalInterface
  private interface Writing {
    void to(RowBinary rows) throws IOException;
  }

  private static byte[] written(Writing writing) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    RowBinary rows = new RowBinary(out);
    writing.to(rows);
    rows.flush();
    return out.toByteArray();
  }

  private static String hex(Writing writing) throws IOException {
    return HexFormat.of().formatHex(written(writing));
  }

  @Test
  void valuesHaveTheirLowestOctetFirst() throws IOException {
    assertThat(hex(rows -> rows.int8(-2))).isEqualTo("fe");
    assertThat(hex(rows -> rows.int16(0x0102))).isEqualTo("0201");
    assertThat(hex(rows -> rows.int32(-2))).isEqualTo("feffffff");
    assertThat(hex(rows -> rows.int64(1))).isEqualTo("0100000000000000");
    assertThat(hex(rows -> rows.float32(1.5f))).isEqualTo("0000c03f");
    assertThat(hex(rows -> rows.float64(-0.0))).isEqualTo("0000000000000080");
    assertThat(hex(rows -> rows.uuid(UUID.fromString("61f0c404-5cb3-11e7-907b-a6006ad3dba0"))))
        .isEqualTo("e711b35c04c4f061a0dbd36a00a67b90");
  }

  @Test
  void nullsAndLengthsStandBeforeWhatTheyTellOf() throws IOException {
    assertThat(
            hex(
                rows -> {
                  rows.absent();
                  rows.present();
                  rows.string("\u017e");
                }))
        .isEqualTo("010002c5be");
    assertThat(hex(rows -> rows.length(300))).isEqualTo("ac02");
    assertThat(hex(rows -> rows.length(Integer.MAX_VALUE))).isEqualTo("ffffffff07");
    assertThat(hex(rows -> rows.fixedString(new byte[] {1, 2}, 4))).isEqualTo("01020000");
  }

  @Test
  void whatDoesNotFitIsRefused() {
    assertThatThrownBy(() -> written(rows -> rows.integer(BigInteger.valueOf(256), 1)))
        .isInstanceOf(ArithmeticException.class);
    assertThatThrownBy(() -> written(rows -> rows.integer(BigInteger.valueOf(-129), 1)))
        .isInstanceOf(ArithmeticException.class);
    assertThatThrownBy(() -> written(rows -> rows.fixedString(new byte[3], 2)))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Property
  void wideIntegersAreTwosComplement(
      @ForAll
          @BigRange(
              min = "-170141183460469231731687303715884105728",
              max = "170141183460469231731687303715884105727")
          BigInteger value)
      throws IOException {
    byte[] octets = written(rows -> rows.integer(value, 16));

    assertThat(octets).hasSize(16);
    byte[] bigEndian = new byte[16];
    for (int octet = 0; octet < 16; octet++) {
      bigEndian[15 - octet] = octets[octet];
    }
    assertThat(new BigInteger(bigEndian)).isEqualTo(value);
  }

  @Property(tries = 50)
  void textOfAnySizeCrossesTheBuffer(@ForAll @IntRange(max = 700_000) int size) throws IOException {
    byte[] text = new byte[size];
    Arrays.fill(text, (byte) 'x');

    byte[] octets =
        written(
            rows -> {
              rows.int64(-1);
              rows.string(text);
              rows.int32(-1);
            });

    int length = Math.max(1, (32 - Integer.numberOfLeadingZeros(size) + 6) / 7);
    assertThat(octets).hasSize(8 + length + size + 4);
    assertThat(octets).startsWith(-1, -1).endsWith(-1, -1, -1, -1);
  }
}
