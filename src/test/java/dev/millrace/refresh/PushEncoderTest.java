package dev.millrace.refresh;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.clickhouse.ClickHouseType;
import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

class PushEncoderTest {
  private static final byte[] SIGNATURE = {
    'P', 'G', 'C', 'O', 'P', 'Y', '\n', (byte) 0xff, '\r', '\n', 0
  };

  private static final List<ColumnMapping> COLUMNS =
      ColumnMapping.all(
          List.of(
              ColumnMappingTest.source("id", "integer"), ColumnMappingTest.source("name", "text")),
          List.of(ClickHouseType.parse("Int8"), ClickHouseType.parse("Nullable(String)")),
          new LoadConditions(Load.PUSH, false, "UTC", "UTF8"));

  private final ByteArrayOutputStream sent = new ByteArrayOutputStream();

  private PushEncoder encoder() {
    return new PushEncoder(COLUMNS, 0, sent);
  }

  /** Writes a binary COPY as Postgres' documentation describes it. */
  private static byte[] stream(boolean trailer, Object... values) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    DataOutputStream data = new DataOutputStream(bytes);
    try {
      data.write(SIGNATURE);
      data.writeInt(0);
      data.writeInt(0);
      for (int i = 0; i < values.length; i += 2) {
        data.writeShort(2);
        field(data, values[i]);
        field(data, values[i + 1]);
      }
      if (trailer) {
        data.writeShort(-1);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return bytes.toByteArray();
  }

  private static void field(DataOutputStream data, Object value) throws IOException {
    if (value == null) {
      data.writeInt(-1);
    } else if (value instanceof Integer number) {
      data.writeInt(Integer.BYTES);
      data.writeInt(number);
    } else {
      byte[] text = value.toString().getBytes(StandardCharsets.UTF_8);
      data.writeInt(text.length);
      data.write(text);
    }
  }

  private static byte[] bytes(int... values) {
    byte[] bytes = new byte[values.length];
    for (int i = 0; i < values.length; i++) {
      bytes[i] = (byte) values[i];
    }
    return bytes;
  }

  @Test
  void writesARowAfterTheOther() {
    byte[] stream = stream(true, 1, "é", -2, null, 3, "");
    PushEncoder encoder = encoder();
    encoder.accept(stream, 0, stream.length);
    assertThat(encoder.finish()).isEqualTo(3);
    assertThat(sent.toByteArray()).isEqualTo(bytes(1, 0, 2, 0xc3, 0xa9, -2, 1, 3, 0, 0));
  }

  @Property(tries = 200)
  void itDoesNotMatterWhereTheStreamIsCut(
      @ForAll @Size(min = 1, max = 20) List<@IntRange(min = 1, max = 40) Integer> cuts) {
    byte[] stream = stream(true, 1, "one", 2, null, 3, "x".repeat(300), 4, "four", 5, "");
    PushEncoder whole = encoder();
    whole.accept(stream, 0, stream.length);
    whole.finish();
    ByteArrayOutputStream other = new ByteArrayOutputStream();
    PushEncoder cut = new PushEncoder(COLUMNS, 0, other);
    int from = 0;
    for (int i = 0; from < stream.length; i++) {
      int length = Math.min(cuts.get(i % cuts.size()), stream.length - from);
      cut.accept(stream, from, length);
      from += length;
    }
    assertThat(cut.finish()).isEqualTo(5);
    assertThat(other.toByteArray()).isEqualTo(sent.toByteArray());
    sent.reset();
  }

  @Test
  void aRowLargerThanTheWindowIsTakenWhole() {
    byte[] stream = stream(true, 1, "y".repeat(3_000_000), 2, "z");
    PushEncoder encoder = encoder();
    for (int from = 0; from < stream.length; from += 100_000) {
      encoder.accept(stream, from, Math.min(100_000, stream.length - from));
    }
    assertThat(encoder.finish()).isEqualTo(2);
    assertThat(sent.size()).isEqualTo(1 + 1 + 4 + 3_000_000 + 1 + 1 + 1 + 1);
  }

  @Test
  void namesTheRowOfAValueThatDoesNotFit() {
    byte[] stream = stream(true, 1, "a", 128, "b");
    assertThatThrownBy(() -> encoder().accept(stream, 0, stream.length))
        .isInstanceOfSatisfying(
            MillraceException.class,
            e -> assertThat(e.code()).isEqualTo(ErrorCode.VALUE_OUT_OF_RANGE))
        .hasMessageStartingWith(
            "the value of column \"id\" (integer to Int8) in the row with \"id\" = 128 is beyond Int8");
  }

  @Test
  void namesTheRowOfANullThatTheTargetDoesNotHold() {
    byte[] stream = stream(true, 1, "a", null, "b");
    assertThatThrownBy(() -> encoder().accept(stream, 0, stream.length))
        .hasMessageStartingWith(
            "the value of column \"id\" (integer to Int8) in the row number 2 of the query is NULL");
  }

  @Test
  void aStreamWithoutItsEndIsAFailure() {
    byte[] stream = stream(false, 1, "a");
    PushEncoder encoder = encoder();
    encoder.accept(stream, 0, stream.length);
    assertThatThrownBy(encoder::finish)
        .isInstanceOfSatisfying(
            MillraceException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.AUDIT_FAILED))
        .hasMessageContaining("after 1 rows");
  }

  @Test
  void whatIsNoBinaryCopyIsAFault() {
    byte[] text = "1\tone\n2\ttwo\n3\tthree\n".getBytes(StandardCharsets.UTF_8);
    assertThatThrownBy(() -> encoder().accept(text, 0, text.length))
        .isInstanceOf(IllegalStateException.class);
    byte[] more = stream(true, 1, "a");
    PushEncoder encoder = encoder();
    encoder.accept(more, 0, more.length);
    assertThatThrownBy(() -> encoder.accept(more, 0, more.length))
        .hasMessageContaining("after the end");
  }

  @Test
  void aConnectionThatBreaksIsToldAsWhatItIs() {
    OutputStream broken =
        new OutputStream() {
          @Override
          public void write(int octet) throws IOException {
            throw new IOException("broken pipe");
          }
        };
    byte[] stream = stream(true, 1, "a");
    PushEncoder encoder = new PushEncoder(COLUMNS, 0, broken);
    encoder.accept(stream, 0, stream.length);
    assertThatThrownBy(encoder::finish)
        .isInstanceOf(UncheckedIOException.class)
        .hasMessageContaining("broken pipe");
  }
}
