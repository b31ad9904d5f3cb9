package dev.millrace.run;

import dev.millrace.notify.Slack;
import java.util.Optional;

/** Posts messages to people. Thread-safe. */
public final class AlertSteps implements AlertActivities {
  private final Optional<Slack> slack;

  /**
   * Makes the activities of a worker.
   *
   * @param slack where messages go; empty for nowhere
   */
  public AlertSteps(Optional<Slack> slack) {
    this.slack = slack;
  }

  @Override
  public void alert(String text) {
    slack.ifPresent(channel -> channel.post(text));
  }
}
