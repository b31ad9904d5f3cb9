package dev.millrace.refresh;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import java.util.List;
import org.junit.jupiter.api.Test;

class ApprovalTest {
  private static final String AT = "2026-11-30T10:00:00Z";
  private static final Approval.Origin SIGNAL = new Approval.Origin(null, 1);

  private final Approval approval = new Approval();

  private static Question question(int number, String digest) {
    return new Question(number, digest, "100", "50", "2026-11-30T22:00:00Z");
  }

  private static Decision yes(String by, String digest) {
    return new Decision(true, "", by, digest);
  }

  private void refused(Decision decision, boolean needsDigest, String reason) {
    assertThatThrownBy(() -> approval.accept(decision, needsDigest, SIGNAL, AT))
        .isInstanceOfSatisfying(
            MillraceException.class,
            exception -> assertThat(exception.code()).isEqualTo(ErrorCode.DECISION_REFUSED))
        .hasMessageContaining(reason);
  }

  @Test
  void nothingWaitsBeforeTheQuestion() {
    refused(yes("ann", "d1"), false, "nothing waits");
    assertThat(approval.accepted()).isNull();
  }

  @Test
  void anUpdateHasToNameTheQuestion() {
    approval.ask(question(1, "d1"));

    refused(yes("ann", null), true, "has no digest");
    refused(yes("ann", "d0"), true, "digest d0 is of another question; this one has d1");
    approval.accept(yes("ann", "d1"), true, SIGNAL, AT);
    assertThat(approval.accepted().decision().approved()).isTrue();
  }

  @Test
  void aSignalMayLeaveTheDigestOutWhileTheQuestionIsTheFirst() {
    approval.ask(question(1, "d1"));
    approval.check(yes("ann", null), false);
    refused(yes("ann", "d0"), false, "another question");

    approval.ask(question(2, "d2"));
    refused(yes("ann", null), false, "has no digest");
    refused(yes("ann", "d1"), false, "digest d1 is of another question");
    approval.accept(yes("ann", "d2"), false, SIGNAL, AT);
  }

  @Test
  void aSecondAnswerIsToldWhoWasFirst() {
    approval.ask(question(1, "d1"));
    approval.accept(new Decision(false, "no", "ann", "d1"), true, SIGNAL, AT);

    refused(yes("bob", "d1"), true, "already rejected by ann at " + AT);
    assertThat(approval.accepted().decision().by()).isEqualTo("ann");
  }

  @Test
  void onlyApproversDecideWhereThereAreSome() {
    approval.allow(List.of("ann", "bob"));
    approval.ask(question(1, "d1"));

    refused(yes("eve", "d1"), true, "eve is not in approvers");
    approval.accept(yes("bob", "d1"), true, SIGNAL, AT);
  }

  @Test
  void aNewQuestionForgetsTheAnswerToTheOldOne() {
    approval.ask(question(1, "d1"));
    approval.accept(yes("ann", "d1"), true, SIGNAL, AT);

    approval.ask(question(2, "d2"));
    assertThat(approval.accepted()).isNull();
  }

  @Test
  void notesAreBounded() {
    for (int i = 1; i <= 25; i++) {
      approval.ignore("note " + i);
    }

    assertThat(approval.ignored())
        .hasSize(21)
        .contains("note 1", "note 20")
        .last()
        .isEqualTo("and 5 more");
  }
}
