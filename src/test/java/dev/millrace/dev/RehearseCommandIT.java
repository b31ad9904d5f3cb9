package dev.millrace.dev;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.app.Configuration;
import dev.millrace.app.Worker;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

class RehearseCommandIT {
  @Test
  void aWorkerStartsWithoutServersAndLeavesNothing() throws Exception {
    AtomicReference<Path> configuration = new AtomicReference<>();
    int code =
        new RehearseCommand(
                (file, environment) -> {
                  configuration.set(file);
                  return Worker.start(Configuration.load(file, environment), environment);
                })
            .call();
    assertThat(code).isZero();
    assertThat(Files.exists(configuration.get().getParent())).isFalse();
  }
}
