package dev.millrace.refresh;

import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The question of a run, and what people answered. Not thread-safe: one workflow thread at a time
 * has it.
 */
final class Approval {
  /** So that a client that answers again and again does not fill the status. */
  private static final int MOST_IGNORED = 20;

  private final List<String> ignored = new ArrayList<>();
  private List<String> approvers = List.of();
  private Question question;
  private Accepted accepted;
  private int ignoredCount;

  /**
   * Where in the history an answer is.
   *
   * @param updateId of an update; null for a signal
   * @param signal the how-manieth {@code approve} signal of the history, from 1; 0 for an update
   */
  record Origin(String updateId, int signal) {}

  /** An answer that counts. */
  record Accepted(Decision decision, Origin origin, String at) {}

  /** Says who may answer; nobody in the list means anybody. */
  void allow(List<String> names) {
    approvers = List.copyOf(names);
  }

  /** Asks; an earlier answer belonged to another question. */
  void ask(Question asked) {
    question = asked;
    accepted = null;
  }

  /** Returns the question; null while nothing was asked. */
  Question question() {
    return question;
  }

  /** Returns the answer; null while there is none. */
  Accepted accepted() {
    return accepted;
  }

  /** Returns what came and could not be used, oldest first. */
  List<String> ignored() {
    List<String> shown = new ArrayList<>(ignored);
    if (ignoredCount > ignored.size()) {
      shown.add("and %d more".formatted(ignoredCount - ignored.size()));
    }
    return shown;
  }

  /** Notes what came and could not be used. */
  void ignore(String note) {
    ignoredCount++;
    if (ignored.size() < MOST_IGNORED) {
      ignored.add(note);
    }
  }

  /**
   * Takes an answer.
   *
   * @throws MillraceException as {@link #check}
   */
  void accept(Decision decision, boolean needsDigest, Origin origin, String at) {
    check(decision, needsDigest);
    accepted = new Accepted(decision, origin, at);
  }

  /**
   * Refuses an answer that can't be used.
   *
   * @param needsDigest whether it has to name the question; without that, it may be left out while
   *     there was only one
   * @throws MillraceException with {@code DECISION_REFUSED} and the reason
   */
  void check(Decision decision, boolean needsDigest) {
    Optional<String> reason = refusal(decision, needsDigest);
    if (reason.isPresent()) {
      throw new MillraceException(ErrorCode.DECISION_REFUSED, reason.get());
    }
  }

  private Optional<String> refusal(Decision decision, boolean needsDigest) {
    if (question == null) {
      return Optional.of("nothing waits for a decision; look at status and answer when it asks");
    }
    if (accepted != null) {
      return Optional.of(
          "already %s by %s at %s"
              .formatted(
                  accepted.decision().approved() ? "approved" : "rejected",
                  accepted.decision().by(),
                  accepted.at()));
    }
    if (!approvers.isEmpty() && !approvers.contains(decision.by())) {
      return Optional.of(
          "%s is not in approvers of the worker's configuration, which has %s"
              .formatted(decision.by(), String.join(", ", approvers)));
    }
    if (decision.digest() == null) {
      return needsDigest || question.number() > 1
          ? Optional.of(
              "the decision has no digest; look at what would be published, and give digest %s"
                  .formatted(question.digest()))
          : Optional.empty();
    }
    return decision.digest().equals(question.digest())
        ? Optional.empty()
        : Optional.of(
            "digest %s is of another question; this one has %s: look at what would be published"
                .formatted(decision.digest(), question.digest()));
  }
}
