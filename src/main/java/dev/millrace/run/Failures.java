package dev.millrace.run;

import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import dev.millrace.failure.Redactor;
import io.temporal.activity.ActivityInfo;
import io.temporal.failure.ActivityFailure;
import io.temporal.failure.ApplicationFailure;
import io.temporal.failure.CanceledFailure;
import io.temporal.failure.ChildWorkflowFailure;
import io.temporal.failure.TemporalFailure;
import io.temporal.failure.TerminatedFailure;
import io.temporal.failure.TimeoutFailure;

/** Translates between failures of Millrace and of Temporal. Stateless. */
public final class Failures {
  /** Longer messages are cut, so that a failure stays small in history. */
  private static final int MOST_MESSAGE = 2_000;

  private Failures() {}

  /**
   * Returns a failure for the workflow's history, with the code as its type. Its cause stays out:
   * traces of drivers tell nothing that the message does not, and may tell too much.
   */
  public static ApplicationFailure of(MillraceException exception) {
    return traceless(builder(exception).build());
  }

  /** Returns the same with what the control plane records of the step. */
  public static ApplicationFailure of(MillraceException exception, ActivityInfo step) {
    return traceless(builder(exception, step).build());
  }

  /** Returns the same for a step that is not to be tried again, though another time it may be. */
  public static ApplicationFailure last(MillraceException exception, ActivityInfo step) {
    return traceless(builder(exception, step).setNonRetryable(true).build());
  }

  private static ApplicationFailure.Builder builder(
      MillraceException exception, ActivityInfo step) {
    return builder(exception)
        .setDetails(FailedStep.of(step.getActivityType(), step.getAttempt(), exception));
  }

  private static ApplicationFailure.Builder builder(MillraceException exception) {
    return ApplicationFailure.newBuilder()
        .setType(exception.code().name())
        .setMessage(cut(exception.getMessage()))
        .setNonRetryable(!exception.code().retryable());
  }

  /**
   * Returns what is known of the step that failed; null for nothing, as for the workflow itself.
   */
  public static FailedStep step(Throwable failure) {
    // Details of a failure that was made here can't be asked for.
    boolean arrived = false;
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      arrived |= cause instanceof ActivityFailure || cause instanceof ChildWorkflowFailure;
      if (cause instanceof ApplicationFailure application) {
        return !arrived || application.getDetails().getSize() == 0
            ? null
            : application.getDetails().get(FailedStep.class);
      }
    }
    return null;
  }

  /** Takes the trace away: who reads the UI wants the message, and code and message say it all. */
  public static ApplicationFailure traceless(ApplicationFailure failure) {
    failure.setStackTrace(new StackTraceElement[0]);
    return failure;
  }

  /** Returns a failure for an exception that nobody expected. */
  public static ApplicationFailure unexpected(Throwable exception) {
    return ApplicationFailure.newBuilder()
        .setType(ErrorCode.INTERNAL.name())
        .setMessage(cut(Redactor.redact(exception.toString())))
        .build();
  }

  /** Returns whether somebody's cancellation ended the step or the workflow. */
  public static boolean isCancellation(TemporalFailure failure) {
    return failure instanceof CanceledFailure
        || (failure instanceof ActivityFailure && failure.getCause() instanceof CanceledFailure);
  }

  /**
   * Returns what ends a workflow after one of its steps: the step's own code and message instead of
   * "activity failed"; a cancellation stays one.
   */
  public static TemporalFailure ofStep(TemporalFailure failure) {
    if (!(failure instanceof ActivityFailure) || isCancellation(failure)) {
      return failure;
    }
    StepFailure described = describe(failure);
    boolean retryable =
        failure.getCause() instanceof ApplicationFailure cause && !cause.isNonRetryable();
    ApplicationFailure.Builder own =
        ApplicationFailure.newBuilder()
            .setType(described.code())
            .setMessage(described.message())
            .setNonRetryable(!retryable);
    FailedStep step = step(failure);
    return step == null ? own.build() : own.setDetails(step).build();
  }

  /** Returns the code and message of what made a step of a workflow fail. */
  public static StepFailure describe(Throwable failure) {
    Throwable deepest = failure;
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      deepest = cause;
      if (cause instanceof ApplicationFailure) {
        break;
      }
    }
    return new StepFailure(codeOf(deepest), cut(messageOf(deepest)));
  }

  private static String codeOf(Throwable failure) {
    if (failure instanceof ApplicationFailure application) {
      return application.getType();
    }
    if (failure instanceof TimeoutFailure) {
      return ErrorCode.TIMEOUT.name();
    }
    if (failure instanceof CanceledFailure || failure instanceof TerminatedFailure) {
      return ErrorCode.CANCELLED.name();
    }
    if (failure instanceof MillraceException exception) {
      return exception.code().name();
    }
    return ErrorCode.INTERNAL.name();
  }

  private static String messageOf(Throwable failure) {
    if (failure instanceof TimeoutFailure timeout) {
      return "no answer in time (%s); the last worker may have died or be overloaded"
          .formatted(timeout.getTimeoutType());
    }
    if (failure instanceof CanceledFailure || failure instanceof TerminatedFailure) {
      return "somebody cancelled or terminated it; what was published before stays as it was";
    }
    String message =
        failure instanceof TemporalFailure temporal
            ? temporal.getOriginalMessage()
            : failure.getMessage();
    return message == null ? failure.getClass().getSimpleName() : message;
  }

  private static String cut(String message) {
    return message.length() <= MOST_MESSAGE ? message : message.substring(0, MOST_MESSAGE) + "…";
  }
}
