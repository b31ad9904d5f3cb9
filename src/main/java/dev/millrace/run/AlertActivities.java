package dev.millrace.run;

import io.temporal.activity.ActivityInterface;

/** Messages to people. Errors: {@code ApplicationFailure} with a code as type. */
@ActivityInterface(namePrefix = "Run")
public interface AlertActivities {
  /** Posts a text to Slack, where a webhook is configured. */
  void alert(String text);
}
