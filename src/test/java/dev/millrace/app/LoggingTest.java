package dev.millrace.app;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.joran.JoranConfigurator;
import ch.qos.logback.classic.util.LogbackMDCAdapter;
import ch.qos.logback.core.joran.spi.JoranException;
import dev.millrace.failure.Redactor;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.slf4j.Logger;

class LoggingTest {
  private static final String SECRET = "logged-by-mistake-99";

  private final PrintStream errors = System.err;
  private final ByteArrayOutputStream written = new ByteArrayOutputStream();
  private final LoggerContext context = new LoggerContext();

  @BeforeEach
  void configure() throws JoranException {
    Redactor.register(SECRET);
    System.setErr(new PrintStream(written, true, StandardCharsets.UTF_8));
    URL configuration = Main.class.getResource("/logback.xml");
    context.setMDCAdapter(new LogbackMDCAdapter());
    JoranConfigurator configurator = new JoranConfigurator();
    configurator.setContext(context);
    configurator.doConfigure(configuration);
  }

  @AfterEach
  void restore() {
    context.stop();
    System.setErr(errors);
  }

  @Test
  void aLineHasTimeLevelShortLoggerAndMessage() {
    logger().info("copied {} rows", 5);

    assertThat(written())
        .matches(
            "\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{3}Z INFO  "
                + "d\\.m\\.r\\.Extraction copied 5 rows\\R");
  }

  @Test
  void aSecretInAMessageNeverComesOut() {
    logger().warn("failed for " + SECRET);

    assertThat(written()).contains("failed for ***").doesNotContain(SECRET);
  }

  @Test
  void aSecretInAnArgumentNeverComesOut() {
    logger().warn("failed for {}", SECRET);

    assertThat(written()).contains("failed for ***").doesNotContain(SECRET);
  }

  @Test
  void aSecretInAnExceptionItsCauseOrASuppressedOneNeverComesOut() {
    IllegalStateException exception =
        new IllegalStateException(
            "outer " + SECRET, new IllegalArgumentException("inner " + SECRET));
    exception.addSuppressed(new IllegalStateException("suppressed " + SECRET));

    logger().error("failed", exception);

    assertThat(written())
        .contains("outer ***", "inner ***", "suppressed ***", "at dev.millrace.app.LoggingTest")
        .doesNotContain(SECRET)
        .containsOnlyOnce("outer");
  }

  @ParameterizedTest
  @CsvSource({
    "dev.millrace.replication.Extraction, INFO",
    "io.temporal.internal.worker.Poller, WARN",
    "org.gaul.s3proxy.S3Proxy, WARN",
    "org.jclouds.blobstore, WARN",
    "org.eclipse.jetty.server.Server, WARN",
    "io.zonky.test.db.postgres.embedded.EmbeddedPostgres, WARN",
    "com.zaxxer.hikari.HikariDataSource, WARN",
    "software.amazon.awssdk.request, WARN"
  })
  void levels(String logger, String level) {
    assertThat(context.getLogger(logger).getEffectiveLevel()).isEqualTo(Level.valueOf(level));
  }

  private Logger logger() {
    return context.getLogger("dev.millrace.replication.Extraction");
  }

  private String written() {
    return written.toString(StandardCharsets.UTF_8);
  }
}
