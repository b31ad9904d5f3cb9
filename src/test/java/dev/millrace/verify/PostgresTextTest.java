package dev.millrace.verify;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.parquet.Form;
import dev.millrace.parquet.Form.Kind;
import dev.millrace.parquet.Values;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PostgresTextTest {
  private static Values put(PostgresText rule, String text) {
    Values values = new Values();
    byte[] bytes = ("~" + text + "~").getBytes(StandardCharsets.UTF_8);
    values.column();
    rule.put(bytes, 1, bytes.length - 2, values);
    return values;
  }

  private static Values put(Kind kind, int depth, String text) {
    return put(new PostgresText(new Form(kind, depth), false, false), text);
  }

  @ParameterizedTest
  @CsvSource({
    "1970-01-01, 0",
    "2000-02-29, 11016",
    "0001-01-01, -719162",
    "0001-12-31 BC, -719163",
    "4714-11-24 BC, -2440588",
    "5874897-12-31, 2145042905"
  })
  void dates(String text, long days) {
    assertThat(put(Kind.DATE, 0, text).longAt(0)).isEqualTo(days);
  }

  @ParameterizedTest
  @CsvSource({
    "1970-01-01 00:00:00, 0",
    "1970-01-01 00:00:00.000001+00, 1",
    "1969-12-31 23:59:59.99+00, -10000",
    "0001-12-31 23:59:59+00 BC, -62135596801000000",
    "294247-01-10 04:00:54.775807, 9223372036854775807"
  })
  void timestamps(String text, long micros) {
    assertThat(put(Kind.TIMESTAMP, 0, text).longAt(0)).isEqualTo(micros);
  }

  @ParameterizedTest
  @CsvSource({"5.10, 5.1", "5.00, 5", "0.00, 0", "-0.50, -0.5", "100, 100", "0.001, 0.001"})
  void numbers(String text, String expected) {
    assertThat(put(Kind.NUMBER, 0, text).textAt(0)).isEqualTo(expected);
  }

  @Test
  void bytesAndIds() {
    assertThat(put(Kind.BYTES, 0, "\\x00ff").bytesAt(0)).isEqualTo(new byte[] {0, -1});
    assertThat(put(Kind.UUID, 0, "00112233-4455-6677-8899-aabbccddeeff").bytesAt(0))
        .isEqualTo(HexFormat.of().parseHex("00112233445566778899aabbccddeeff"));
    assertThat(put(new PostgresText(new Form(Kind.TEXT, 0), true, false), "\\x4142").textAt(0))
        .isEqualTo("AB");
  }

  @Test
  void listsAreReadFromTheirTextForm() {
    Values expected = new Values();
    expected.column();
    expected.putList(2);
    for (String[] list : new String[][] {{"a,b", null}, {"NULL", "\"\\{"}}) {
      expected.putList(list.length);
      for (String element : list) {
        if (element == null) {
          expected.putNull();
        } else {
          expected.putBytes(element.getBytes(StandardCharsets.UTF_8), 0, element.length());
        }
      }
    }

    Values read = put(Kind.TEXT, 2, "[0:1][2:3]={{\"a,b\",NULL},{\"NULL\",\"\\\"\\\\{\"}}");

    assertThat(hash(read)).isEqualTo(hash(expected));
    assertThat(hash(read)).isNotEqualTo(hash(put(Kind.TEXT, 2, "{{\"a,b\",NULL},{NULL,x}}")));
    assertThat(hash(put(Kind.NUMBER, 1, "{}"))).isNotEqualTo(hash(put(Kind.NUMBER, 1, "{NULL}")));
  }

  private static String hash(Values values) {
    long[] hash = new long[2];
    new RowHash().put(values, java.util.List.of(0), hash, 0);
    return Arrays.toString(hash);
  }

  @ParameterizedTest
  @CsvSource({
    "NUMBER, NaN",
    "NUMBER, Infinity",
    "NUMBER, -Infinity",
    "DATE, infinity",
    "TIMESTAMP, -infinity",
    "TIME, 24:00:00"
  })
  void whatTheLakeCantHoldIsNullAndCounted(Kind kind, String text) {
    PostgresText rule = new PostgresText(new Form(kind, 0), false, false);
    assertThat(put(rule, text).isNull(0)).isTrue();
    assertThat(rule.unheld()).isEqualTo(1);
  }

  @Test
  void infinityIsTheEndOfTheRangeWhereARuleSaysSo() {
    PostgresText date = new PostgresText(new Form(Kind.DATE, 0), false, true);
    assertThat(put(date, "infinity").longAt(0)).isEqualTo(put(date, "5874897-12-31").longAt(0));
    assertThat(put(date, "-infinity").longAt(0)).isEqualTo(put(date, "4714-11-24 BC").longAt(0));
    assertThat(date.unheld()).isEqualTo(2);
  }
}
