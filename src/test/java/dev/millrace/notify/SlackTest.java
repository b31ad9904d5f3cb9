package dev.millrace.notify;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.fasterxml.jackson.databind.json.JsonMapper;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import dev.millrace.failure.Redactor;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SlackTest {
  private static final String PATH = "/services/T0/B0/hidden-token-17";

  private final List<String> bodies = new CopyOnWriteArrayList<>();
  private final CountDownLatch end = new CountDownLatch(1);
  private ExecutorService threads;
  private HttpServer server;
  private int status = 200;
  private String answer = "ok";
  private boolean silent;

  @BeforeEach
  void start() throws IOException {
    threads = Executors.newCachedThreadPool();
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setExecutor(threads);
    server.createContext(PATH, this::handle);
    server.start();
  }

  @AfterEach
  void stop() {
    end.countDown();
    server.stop(0);
    threads.shutdownNow();
  }

  @Test
  void theTextArrivesEscapedAsJson() throws IOException {
    slack().post("`public.\"a\"` <!channel> a & b > c\nnext ✓");

    assertThat(bodies).hasSize(1);
    assertThat(new JsonMapper().readTree(bodies.get(0)))
        .isEqualTo(
            new JsonMapper()
                .createObjectNode()
                .put("text", "`public.\"a\"` &lt;!channel&gt; a &amp; b &gt; c\nnext ✓"));
  }

  @Test
  void secretsAreRemovedFromTheText() {
    Redactor.register("a-password-of-slack-test");
    slack().post("driver said a-password-of-slack-test");

    assertThat(bodies.get(0)).contains("driver said ***").doesNotContain("a-password");
  }

  @ParameterizedTest
  @CsvSource({
    "301, NOTIFICATION_REFUSED",
    "400, NOTIFICATION_REFUSED",
    "403, NOTIFICATION_REFUSED",
    "404, NOTIFICATION_REFUSED",
    "410, NOTIFICATION_REFUSED",
    "429, NOTIFICATION_FAILED",
    "500, NOTIFICATION_FAILED",
    "503, NOTIFICATION_FAILED"
  })
  void anotherStatusIsAFailureThatNamesIt(int status, ErrorCode code) {
    this.status = status;
    this.answer = "no_service <" + webhook() + ">";

    MillraceException failure = failure(slack());

    assertThat(failure.code()).isEqualTo(code);
    assertThat(failure)
        .hasMessageContaining("status " + status + " (no_service")
        .hasMessageNotContaining("hidden-token");
    assertThat(bodies).hasSize(1);
  }

  @Test
  void noServerIsAFailureThatMayPass() {
    Slack slack = slack();
    server.stop(0);

    MillraceException failure = failure(slack);

    assertThat(failure.code()).isEqualTo(ErrorCode.NOTIFICATION_FAILED);
    assertThat(failure)
        .hasMessageStartingWith("Slack can't be reached: ")
        .hasMessageNotContaining("hidden-token");
  }

  @Test
  void aServerThatNeverAnswersIsGivenUp() {
    silent = true;

    MillraceException failure = failure(new Slack(webhook(), Duration.ofMillis(200)));

    assertThat(failure.code()).isEqualTo(ErrorCode.NOTIFICATION_FAILED);
    assertThat(failure).hasMessageStartingWith("Slack ").hasMessageNotContaining("hidden-token");
  }

  @Test
  void anAnswerThatNeverEndsIsGivenUp() {
    status = 0;

    MillraceException failure = failure(new Slack(webhook(), Duration.ofMillis(200)));

    assertThat(failure.code()).isEqualTo(ErrorCode.NOTIFICATION_FAILED);
    assertThat(failure).hasMessageStartingWith("Slack did not answer within");
  }

  @Test
  void anInterruptedThreadStaysInterrupted() {
    Thread.currentThread().interrupt();

    assertThat(failure(slack()).code()).isEqualTo(ErrorCode.NOTIFICATION_FAILED);
    assertThat(Thread.interrupted()).isTrue();
  }

  @Test
  void aTextOfTheMostCharactersIsWholeAndALongerOneIsCut() {
    String most = "x".repeat(Slack.MOST_CHARACTERS);

    assertThat(Slack.escape(most)).isEqualTo(most);
    assertThat(Slack.escape(most + "y")).isEqualTo("x".repeat(Slack.MOST_CHARACTERS - 1) + "…");
    assertThat(Slack.escape("x".repeat(Slack.MOST_CHARACTERS - 3) + "<y"))
        .isEqualTo("x".repeat(Slack.MOST_CHARACTERS - 3) + "…");
  }

  @Property(tries = 200)
  void whatIsEscapedIsShortWholeAndWithoutMarkup(@ForAll String text) {
    String escaped = Slack.escape(text.repeat(20));

    assertThat(escaped.length()).isLessThanOrEqualTo(Slack.MOST_CHARACTERS);
    assertThat(escaped).doesNotContain("<", ">");
    assertThat(escaped.replaceAll("&(amp|lt|gt);", "")).doesNotContain("&");
    if (!escaped.endsWith("…")) {
      assertThat(escaped.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"))
          .isEqualTo(text.repeat(20));
    }
  }

  private void handle(HttpExchange exchange) throws IOException {
    bodies.add(new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8));
    try {
      if (silent) {
        end.await();
      }
      if (status == 0) {
        exchange.sendResponseHeaders(200, 1_000);
        exchange.getResponseBody().write('o');
        exchange.getResponseBody().flush();
        end.await();
      }
    } catch (InterruptedException exception) {
      Thread.currentThread().interrupt();
      return;
    }
    byte[] content = answer.getBytes(StandardCharsets.UTF_8);
    exchange.getResponseHeaders().add("Location", webhook().toString());
    exchange.sendResponseHeaders(status, content.length);
    exchange.getResponseBody().write(content);
    exchange.close();
  }

  private URI webhook() {
    return URI.create("http://127.0.0.1:" + server.getAddress().getPort() + PATH);
  }

  private Slack slack() {
    return new Slack(webhook());
  }

  private static MillraceException failure(Slack slack) {
    return catchThrowableOfType(MillraceException.class, () -> slack.post("text"));
  }
}
