package dev.millrace.refresh;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class FingerprintTest {
  private static AuditFigures figures(String newest, String hash) {
    return new AuditFigures("3", "2", "6", newest, List.of("0"), hash);
  }

  @Test
  void hasTheSeedsValues() {
    Fingerprint fingerprint =
        Fingerprint.of(figures("2026-01-02 03:04:05+00", null), figures("", null));
    assertThat(fingerprint.source()).isEqualTo("3|2|6|2026-01-02 03:04:05+00");
    assertThat(fingerprint.live()).isEqualTo("3|2|6");
  }

  @Test
  void endsWithNothingWhereThereIsNoNewest() {
    assertThat(Fingerprint.of(figures("", null), figures("", null)).source()).isEqualTo("3|2|6|");
  }

  @Test
  void hasTheHashOfAFullAuditBehindIt() {
    Fingerprint fingerprint = Fingerprint.of(figures("x", "-5"), figures("", "7"));
    assertThat(fingerprint.source()).isEqualTo("3|2|6|x|-5");
    assertThat(fingerprint.live()).isEqualTo("3|2|6|7");
  }

  @Test
  void isUnchangedOnlyWhenBothSidesAre() {
    Fingerprint now = Fingerprint.of(figures("x", null), figures("", null));
    assertThat(now.unchangedSince(new Fingerprint("3|2|6|x", "3|2|6"))).isTrue();
    assertThat(now.unchangedSince(new Fingerprint("3|2|6|y", "3|2|6"))).isFalse();
    assertThat(now.unchangedSince(new Fingerprint("3|2|6|x", "3|2|7"))).isFalse();
    assertThat(now.unchangedSince(null)).isFalse();
  }

  @Test
  void aFullAuditAfterAStandardOneIsAChange() {
    Fingerprint standard = Fingerprint.of(figures("x", null), figures("", null));
    Fingerprint full = Fingerprint.of(figures("x", "1"), figures("", "1"));
    assertThat(full.unchangedSince(standard)).isFalse();
  }
}
