package dev.millrace.dev;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.notify.Slack;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;

class AlertServerTest {
  @Test
  void anAlertIsShownAsItWasWritten() {
    List<String> shown = new CopyOnWriteArrayList<>();
    try (AlertServer server = AlertServer.start(shown::add)) {
      new Slack(server.webhook()).post("`a.b` grew from 10 to 100 <&> \"more\"");
    }
    assertThat(shown).containsExactly("`a.b` grew from 10 to 100 <&> \"more\"");
  }
}
