package dev.millrace.app;

import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import picocli.CommandLine.Command;
import picocli.CommandLine.ParentCommand;

/** {@code millrace worker}: polls the task queue until it is stopped. */
@Command(
    name = "worker",
    description = "Run a worker on the Temporal, Postgres and S3 servers of the configuration.",
    mixinStandardHelpOptions = true)
final class WorkerCommand implements Callable<Integer> {
  @ParentCommand private Main main;

  @Override
  public Integer call() throws InterruptedException {
    Worker worker = Worker.start(main.configuration(), main.environment());
    Runtime.getRuntime().addShutdownHook(new Thread(worker::close, "shutdown"));
    // A signal ends the process, and so this wait.
    new CountDownLatch(1).await();
    return 0;
  }
}
