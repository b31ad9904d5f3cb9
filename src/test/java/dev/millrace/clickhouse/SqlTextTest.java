package dev.millrace.clickhouse;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class SqlTextTest {

  @Test
  void valuesStandInThePlacesOfQuestionMarks() {
    assertThat(
            SqlText.fill(
                "SELECT ?, ?, ?, ?, ?, ?",
                "it's \\",
                7,
                -1L,
                new BigInteger("9").pow(40),
                new BigDecimal("1E+3"),
                true))
        .isEqualTo(
            "SELECT 'it\\'s \\\\', 7, -1, 147808829414345923316083210206383297601, 1000, true");
    assertThat(SqlText.fill("?", new UUID(0, 1)))
        .isEqualTo("'00000000-0000-0000-0000-000000000001'");
  }

  @Test
  void questionMarksInsideOfQuotesStay() {
    assertThat(SqlText.fill("SELECT '?\\'?', `?\\`?`, \"?\", ?", 1))
        .isEqualTo("SELECT '?\\'?', `?\\`?`, \"?\", 1");
  }

  @Test
  void theNumberOfValuesHasToFit() {
    assertThatThrownBy(() -> SqlText.fill("?")).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> SqlText.fill("? ?", 1)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> SqlText.fill("?", 1, 2)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> SqlText.fill("?", 1.5)).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void namesAreQuoted() {
    assertThat(ClickHouseIdentifiers.quote("a`b\\c")).isEqualTo("`a\\`b\\\\c`");
    assertThat(new TargetTable("d", "t 1").sql()).isEqualTo("`d`.`t 1`");
  }
}
