package dev.millrace.refresh;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.refresh.Verdict.Rules;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class VerdictTest {
  private static final List<String> NAMES = List.of("id", "name");

  private static AuditFigures rows(String rows) {
    return new AuditFigures(rows, rows, "0", "", List.of("0", "0"), null);
  }

  private static Verdict verdict(String shadow, String live, int percent) {
    return Verdict.of(
        NAMES, rows(shadow), rows(shadow), rows(live), new Rules(percent, false, false));
  }

  @ParameterizedTest(name = "{0} after {1} rows at {2} %: shrinks {3}")
  @CsvSource({
    // Live is empty: nothing can shrink.
    "0, 0, 20, false",
    "0, 0, 0, false",
    "5, 0, 20, false",
    // Exactly 20 % is allowed, one row more is not.
    "80, 100, 20, false",
    "79, 100, 20, true",
    "4, 5, 20, false",
    "3, 5, 20, true",
    "8, 11, 20, true",
    "9, 11, 20, false",
    // 0 %: no row may be lost. 100 %: all may.
    "100, 100, 0, false",
    "99, 100, 0, true",
    "101, 100, 0, false",
    "0, 100, 100, false",
    "1, 100, 100, false",
    "0, 1, 99, true",
    "1, 100, 99, false",
    "0, 100, 20, true",
    "200, 100, 20, false",
    // Beyond 64 bits, where rows * 100 would overflow.
    "184467440737095517, 184467440737095516, 0, false",
    "184467440737095516, 184467440737095517, 0, true",
    "9223372036854775807, 9223372036854775807, 20, false",
    "7378697629483820645, 9223372036854775807, 20, true",
    "7378697629483820646, 9223372036854775807, 20, false",
    "18446744073709551615, 18446744073709551616, 0, true",
  })
  void shrinksByTheSeedsArithmetic(String shadow, String live, int percent, boolean shrinks) {
    assertThat(verdict(shadow, live, percent).shrink()).isEqualTo(shrinks);
    assertThat(verdict(shadow, live, percent).needsApproval()).isEqualTo(shrinks);
  }

  @Test
  void eachPublishIsHeldWhereTheInputSaysSo() {
    Verdict verdict =
        Verdict.of(NAMES, rows("5"), rows("5"), rows("5"), new Rules(20, true, false));
    assertThat(verdict.needsApproval()).isTrue();
    assertThat(verdict.shrink()).isFalse();
  }

  @Test
  void anEmptyTableIsRefusedUnlessItIsAllowed() {
    AuditFigures none = rows("0");
    Verdict refused = Verdict.of(NAMES, none, none, rows("0"), new Rules(20, false, false));
    assertThat(refused.empty()).isTrue();
    assertThat(refused.emptyRefused()).isTrue();
    Verdict allowed = Verdict.of(NAMES, none, none, rows("9"), new Rules(20, false, true));
    assertThat(allowed.empty()).isTrue();
    assertThat(allowed.emptyRefused()).isFalse();
    assertThat(allowed.needsApproval()).isTrue();
    assertThat(verdict("1", "0", 20).empty()).isFalse();
  }

  @Test
  void percentsOutside0To100AreNoRules() {
    assertThatThrownBy(() -> new Rules(-1, false, false)).hasMessageContaining("-1");
    assertThatThrownBy(() -> new Rules(101, false, false)).hasMessageContaining("101");
  }

  private static Verdict against(AuditFigures shadow) {
    AuditFigures source = new AuditFigures("3", "3", "6.10", "2020-01-01", List.of("0", "1"), "77");
    return Verdict.of(NAMES, source, shadow, rows("3"), new Rules(20, false, false));
  }

  @Test
  void parityHoldsWhenAllFiguresAreEqualWhateverTheNewestIs() {
    Verdict verdict = against(new AuditFigures("3", "3", "6.10", "", List.of("0", "1"), "77"));
    assertThat(verdict.parity()).isTrue();
    assertThat(verdict.differences()).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({
    "4, 3, 6.10, 0, 1, 77, 'rows: 3 in Postgres, 4 in ClickHouse'",
    "3, 2, 6.10, 0, 1, 77, 'different keys: 3 in Postgres, 2 in ClickHouse'",
    "3, 3, 6.1, 0, 1, 77, 'checksum: 6.10 in Postgres, 6.1 in ClickHouse'",
    "3, 3, 6.10, 0, 0, 77, 'NULLs of \"name\": 1 in Postgres, 0 in ClickHouse'",
    "3, 3, 6.10, 0, 1, 78, 'hash of all values: 77 in Postgres, 78 in ClickHouse'",
    "3, 3, 6.10, 0, 1, , 'hash of all values: 77 in Postgres, null in ClickHouse'",
  })
  void eachFigureBreaksParityAndIsNamed(
      String rows,
      String distinct,
      String sum,
      String first,
      String second,
      String hash,
      String difference) {
    Verdict verdict =
        against(new AuditFigures(rows, distinct, sum, "", List.of(first, second), hash));
    assertThat(verdict.parity()).isFalse();
    assertThat(verdict.differences()).containsExactly(difference);
  }

  @Test
  void figuresOfOtherColumnsAreNotCompared() {
    AuditFigures one = new AuditFigures("3", "3", "6", "", List.of("0"), null);
    assertThatThrownBy(() -> Verdict.differences(NAMES, one, one))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
