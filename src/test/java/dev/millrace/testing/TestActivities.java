package dev.millrace.testing;

import dev.millrace.run.FailureTranslation;
import io.temporal.testing.TestActivityEnvironment;
import io.temporal.testing.TestEnvironmentOptions;
import io.temporal.worker.WorkerFactoryOptions;

/** Where activities run without a server, and their failures are told as a worker tells them. */
public final class TestActivities {
  private TestActivities() {}

  /** Makes the environment, which is to be closed. */
  public static TestActivityEnvironment environment() {
    return TestActivityEnvironment.newInstance(
        TestEnvironmentOptions.newBuilder()
            .setWorkerFactoryOptions(
                WorkerFactoryOptions.newBuilder()
                    .setWorkerInterceptors(new FailureTranslation())
                    .build())
            .build());
  }
}
