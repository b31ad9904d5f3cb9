package dev.millrace.verify;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

class TextRowsTest {
  private static List<List<String>> rows(String stream, int cut) {
    List<List<String>> rows = new ArrayList<>();
    TextRows reader =
        new TextRows(
            row -> {
              List<String> fields = new ArrayList<>();
              for (int i = 0; i < row.fields(); i++) {
                fields.add(row.text(i));
              }
              rows.add(fields);
            });
    byte[] bytes = stream.getBytes(StandardCharsets.UTF_8);
    for (int at = 0; at < bytes.length; at += cut) {
      reader.accept(bytes, at, Math.min(cut, bytes.length - at));
    }
    return rows;
  }

  @Test
  void fieldsAreCutAndUnescapedWhereverTheStreamIsCut() {
    String stream = "1\t\\N\tN\t\n\\\\N\ta\\tb\\nc\\rd\\\\e\\bf\\fg\\vh\t日付\t\\N\n";
    for (int cut = 1; cut < 30; cut++) {
      assertThat(rows(stream, cut))
          .as("cut by %d", cut)
          .containsExactly(
              Arrays.asList("1", null, "N", ""),
              Arrays.asList("\\N", "a\tb\nc\rd\\e\bf\fg\u000bh", "日付", null));
    }
  }

  @Test
  void manyAndLongFieldsFit() {
    String row = "x".repeat(10_000) + "\t" + "y\t".repeat(1_600);
    assertThat(rows(row + "\n", 1_000).get(0)).hasSize(1_602);
  }
}
