package dev.millrace.dev;

import static org.assertj.core.api.Assertions.assertThat;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class RowComparisonTest {
  private static final String ROWS = "('1', 'a'), ('2', NULL), ('3', 'c')";

  @Test
  void equalRowsAreEqualAndCounted() throws Exception {
    assertThat(compare(ROWS, ROWS)).isEqualTo("3 equal");
  }

  @Test
  void oneValueThatDiffersIsFoundWithKeyAndColumn() throws Exception {
    assertThat(compare(ROWS, "('1', 'a'), ('2', NULL), ('3', 'C')"))
        .isEqualTo("2 equal, the row with id 3 has note 'c' in the table and 'C' in the lake");
  }

  @Test
  void nullIsNotTheEmptyText() throws Exception {
    assertThat(compare(ROWS, "('1', 'a'), ('2', ''), ('3', 'c')"))
        .isEqualTo("1 equal, the row with id 2 has note NULL in the table and '' in the lake");
    assertThat(compare("('2', '')", "('2', NULL)"))
        .isEqualTo("0 equal, the row with id 2 has note '' in the table and NULL in the lake");
  }

  @Test
  void nullIsNotTheTextNull() throws Exception {
    assertThat(compare("('2', 'NULL')", "('2', NULL)")).startsWith("0 equal, the row with id 2");
  }

  @Test
  void aMissingRowIsFoundAtTheStartInTheMiddleAndAtTheEnd() throws Exception {
    assertThat(compare(ROWS, "('2', NULL), ('3', 'c')"))
        .isEqualTo("0 equal, the lake lacks the row id '1', note 'a'");
    assertThat(compare(ROWS, "('1', 'a'), ('3', 'c')"))
        .isEqualTo("1 equal, the lake lacks the row id '2', note NULL");
    assertThat(compare(ROWS, "('1', 'a'), ('2', NULL)"))
        .isEqualTo("2 equal, the lake lacks the row id '3', note 'c'");
  }

  @Test
  void aRowMoreIsFoundAtTheStartInTheMiddleAndAtTheEnd() throws Exception {
    assertThat(compare(ROWS, "('0', 'x'), " + ROWS))
        .isEqualTo("0 equal, the lake has a row more: id '0', note 'x'");
    assertThat(compare(ROWS, "('1', 'a'), ('10', 'x'), ('2', NULL), ('3', 'c')"))
        .isEqualTo("1 equal, the lake has a row more: id '10', note 'x'");
    assertThat(compare(ROWS, ROWS + ", ('4', 'x')"))
        .isEqualTo("3 equal, the lake has a row more: id '4', note 'x'");
  }

  @Test
  void aRowThatIsThereTwiceIsARowMore() throws Exception {
    assertThat(compare(ROWS, "('1', 'a'), ('1', 'a'), ('2', NULL), ('3', 'c')"))
        .isEqualTo("1 equal, the lake has a row more: id '1', note 'a'");
  }

  @Test
  void aLongValueIsShortened() throws Exception {
    assertThat(compare("('1', repeat('x', 1000))", "('1', '')")).hasSizeLessThan(200);
  }

  private static String compare(String table, String lake) throws SQLException {
    try (Connection connection = DriverManager.getConnection("jdbc:duckdb:");
        Statement one = connection.createStatement();
        Statement other = connection.createStatement();
        ResultSet tableRows = one.executeQuery("FROM (VALUES " + table + ")");
        ResultSet lakeRows = other.executeQuery("FROM (VALUES " + lake + ")")) {
      RowComparison comparison = new RowComparison(tableRows, lakeRows, List.of("id", "note"));
      Optional<String> difference = comparison.firstDifference();
      return comparison.rows() + " equal" + difference.map(text -> ", " + text).orElse("");
    }
  }
}
