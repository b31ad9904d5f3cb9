package dev.millrace.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import dev.millrace.testing.TestActivities;
import io.temporal.activity.ActivityInterface;
import io.temporal.activity.ActivityMethod;
import io.temporal.failure.ActivityFailure;
import io.temporal.failure.ApplicationFailure;
import io.temporal.testing.TestActivityEnvironment;
import org.junit.jupiter.api.Test;

class FailureTranslationTest {
  /** A step that fails. */
  @ActivityInterface
  public interface Step {
    /** Fails. */
    @ActivityMethod
    void fail();
  }

  private static void run(RuntimeException failure) {
    TestActivityEnvironment environment = TestActivities.environment();
    try {
      environment.registerActivitiesImplementations(
          (Step)
              () -> {
                throw failure;
              });
      environment.newActivityStub(Step.class).fail();
    } finally {
      environment.close();
    }
  }

  private static void assertType(RuntimeException failure, String type, String message) {
    assertThatThrownBy(() -> run(failure))
        .isInstanceOf(ActivityFailure.class)
        .cause()
        .isInstanceOfSatisfying(
            ApplicationFailure.class,
            cause -> {
              assertThat(cause.getType()).isEqualTo(type);
              assertThat(cause.getOriginalMessage()).contains(message);
            });
  }

  @Test
  void aFailureOfMillraceHasItsCodeAsType() {
    assertType(
        new MillraceException(ErrorCode.TABLE_MISSING, "public.parcels is not there"),
        "TABLE_MISSING",
        "public.parcels");
  }

  @Test
  void aFailureThatNobodyExpectedIsInternal() {
    assertType(new IllegalArgumentException("odd"), "INTERNAL", "odd");
  }
}
