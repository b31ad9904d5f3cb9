package dev.millrace.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.testing.Await;
import io.temporal.activity.ActivityExecutionContext;
import io.temporal.client.ActivityNotExistsException;
import java.lang.reflect.Proxy;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

class HeartbeatTest {
  /** Answers beats only. */
  private static ActivityExecutionContext context(Runnable beat) {
    return (ActivityExecutionContext)
        Proxy.newProxyInstance(
            HeartbeatTest.class.getClassLoader(),
            new Class<?>[] {ActivityExecutionContext.class},
            (proxy, method, arguments) -> {
              assertThat(method.getName()).isEqualTo("heartbeat");
              beat.run();
              return null;
            });
  }

  @Test
  void anAttemptThatIsLateIsRefusedBeforeItBegins() {
    ActivityExecutionContext late =
        context(
            () -> {
              throw new ActivityNotExistsException(new IllegalStateException("timed out"));
            });
    assertThatThrownBy(() -> Heartbeat.start(late, () -> "working").close())
        .isInstanceOf(ActivityNotExistsException.class);
  }

  @Test
  void aServerThatIsAwayForAMomentStopsNothing() {
    ActivityExecutionContext away =
        context(
            () -> {
              throw new IllegalStateException("no network");
            });
    try (Heartbeat heartbeat = Heartbeat.start(away, () -> "working")) {
      heartbeat.check();
    }
  }

  @Test
  void anAttemptIsToldThatItIsOverAtItsNextLook() throws InterruptedException {
    AtomicReference<RuntimeException> answer = new AtomicReference<>();
    CountDownLatch told = new CountDownLatch(1);
    ActivityExecutionContext context =
        context(
            () -> {
              RuntimeException failure = answer.get();
              if (failure != null) {
                told.countDown();
                throw failure;
              }
            });
    try (Heartbeat heartbeat = Heartbeat.start(context, () -> "working")) {
      heartbeat.check();
      answer.set(new ActivityNotExistsException(new IllegalStateException("timed out")));
      assertThat(told.await(1, TimeUnit.MINUTES)).isTrue();
      Await.until(
          "the look throws",
          () -> {
            try {
              heartbeat.check();
              return false;
            } catch (ActivityNotExistsException expected) {
              return true;
            }
          });
    }
  }
}
