package dev.millrace.testing;

import static org.assertj.core.api.Assumptions.assumeThat;

import dev.millrace.dev.ClickHouseServer;
import dev.millrace.dev.EmbeddedStack;
import dev.millrace.dev.PostgresServer;
import dev.millrace.dev.S3Server;
import dev.millrace.dev.TemporalServer;
import java.nio.file.Path;
import java.util.Optional;

/**
 * The embedded stack that all tests of this JVM share: started by the first one that asks, ended
 * with the JVM.
 *
 * <p>Tests keep apart by their own schemas, prefixes, pipelines and workflow ids. Thread-safe.
 */
public final class TestStack {
  private TestStack() {}

  /** Starts at the first use of the class; the JVM sees to it that this happens once. */
  private static final class Shared {
    static final EmbeddedStack STACK =
        EmbeddedStack.start(
            EmbeddedStack.Options.onFreePorts(EmbeddedStack.Kind.TEST, Optional.empty()),
            System.out::println);
  }

  /** Returns the whole stack. */
  public static EmbeddedStack stack() {
    return Shared.STACK;
  }

  /** Returns the Postgres server, with database {@code appdb}. */
  public static PostgresServer postgres() {
    return stack().postgres();
  }

  /** Returns the S3 server, with bucket {@link EmbeddedStack#BUCKET}. */
  public static S3Server s3() {
    return stack().s3();
  }

  /** Returns the Temporal server; with {@code millrace.ci} it has to be the real one. */
  public static TemporalServer temporal() {
    TemporalServer server = stack().temporal();
    if (!server.isReal() && Boolean.getBoolean("millrace.ci")) {
      throw new IllegalStateException(
          "No real Temporal server: " + server.reason().orElse("no reason given"));
    }
    return server;
  }

  /**
   * Returns the ClickHouse server, with database {@link ClickHouseServer#DATABASE}; where none can
   * be had the test is skipped, or fails with {@code millrace.ci}.
   */
  public static ClickHouseServer clickHouse() {
    Optional<ClickHouseServer> server = stack().clickHouse();
    if (server.isEmpty() && Boolean.getBoolean("millrace.ci")) {
      throw new IllegalStateException("No ClickHouse; the stack's start says why");
    }
    assumeThat(server).as("ClickHouse; the stack's start says why there is none").isPresent();
    return server.orElseThrow();
  }

  /** Returns the configuration file with which a worker runs on the stack. */
  public static Path configuration() {
    return stack().configuration();
  }
}
