package dev.millrace.run;

import io.temporal.activity.ActivityOptions;
import io.temporal.common.RetryOptions;
import io.temporal.failure.ActivityFailure;
import io.temporal.workflow.Workflow;
import java.time.Duration;

/** Alerts from workflow code: bounded, and never a reason to fail. */
public final class Alert {
  private Alert() {}

  /** Posts a text to Slack; when that fails, a warning is logged and the run goes on. */
  public static void send(String text) {
    AlertActivities activities =
        Workflow.newActivityStub(
            AlertActivities.class,
            ActivityOptions.newBuilder()
                .setSummary("alert")
                .setStartToCloseTimeout(Duration.ofSeconds(15))
                .setScheduleToCloseTimeout(Duration.ofMinutes(2))
                .setRetryOptions(RetryOptions.newBuilder().setMaximumAttempts(5).build())
                .build());
    try {
      activities.alert(text);
    } catch (ActivityFailure failure) {
      Workflow.getLogger(Alert.class)
          .warn("an alert could not be sent: {}", Failures.describe(failure).message());
    }
  }
}
