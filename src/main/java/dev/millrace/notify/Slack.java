package dev.millrace.notify;

import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import dev.millrace.failure.Redactor;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Posts to a Slack channel through an <a
 * href="https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks">incoming
 * webhook</a>, in bounded time. The webhook is a secret and never in a message.
 *
 * <p>Thread-safe.
 */
public final class Slack {
  /** The most characters of a text that are sent, escapes included. */
  public static final int MOST_CHARACTERS = 3_000;

  private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(5);
  private static final Duration TIMEOUT = Duration.ofSeconds(10);
  private static final int MOST_CHARACTERS_OF_ANSWER = 100;
  private static final JsonMapper JSON = new JsonMapper();

  private final HttpClient client =
      HttpClient.newBuilder()
          .version(HttpClient.Version.HTTP_1_1)
          .connectTimeout(CONNECT_TIMEOUT)
          .followRedirects(HttpClient.Redirect.NEVER)
          .build();
  private final URI webhook;
  private final Duration timeout;

  /**
   * Takes the address to post to; does not connect yet.
   *
   * @param webhook an http or https address; a secret
   */
  public Slack(URI webhook) {
    this(webhook, TIMEOUT);
  }

  Slack(URI webhook, Duration timeout) {
    this.webhook = webhook;
    this.timeout = timeout;
    Redactor.register(webhook.toString());
  }

  /**
   * Posts one message; returns when Slack has taken it.
   *
   * @param text plain text; what Slack would take for markup or a mention of everybody is escaped,
   *     secrets are removed, and what is longer than {@link #MOST_CHARACTERS} is cut
   * @throws MillraceException with {@code NOTIFICATION_FAILED} when it may work later (no answer
   *     within 10 seconds, status 429 or 5xx), else with {@code NOTIFICATION_REFUSED}
   */
  public void post(String text) {
    HttpRequest request =
        HttpRequest.newBuilder(webhook)
            .timeout(timeout)
            .header("Content-Type", "application/json; charset=utf-8")
            .POST(HttpRequest.BodyPublishers.ofString(body(text), StandardCharsets.UTF_8))
            .build();
    HttpResponse<String> response = send(request);
    int status = response.statusCode();
    if (status >= 200 && status < 300) {
      return;
    }
    boolean mayPass = status == 429 || status >= 500;
    throw new MillraceException(
        mayPass ? ErrorCode.NOTIFICATION_FAILED : ErrorCode.NOTIFICATION_REFUSED,
        "Slack answered with status "
            + status
            + answer(response.body())
            + (mayPass ? "" : "; check the webhook in slack.webhook"));
  }

  private HttpResponse<String> send(HttpRequest request) {
    // The request's own timeout ends with the headers; a body may drip for ever.
    CompletableFuture<HttpResponse<String>> pending =
        client.sendAsync(request, HttpResponse.BodyHandlers.ofString(StandardCharsets.UTF_8));
    try {
      return pending.get(timeout.toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException exception) {
      throw failed("did not answer within " + timeout.toSeconds() + " s", exception);
    } catch (ExecutionException exception) {
      Throwable cause = exception.getCause();
      String what =
          cause instanceof IOException
              ? "can't be reached: "
              : "was not asked because of a fault: ";
      throw failed(what + cause.getClass().getSimpleName(), cause);
    } catch (InterruptedException exception) {
      Thread.currentThread().interrupt();
      throw failed("was not waited for: interrupted", exception);
    } finally {
      pending.cancel(true);
    }
  }

  private static MillraceException failed(String what, Throwable cause) {
    return new MillraceException(ErrorCode.NOTIFICATION_FAILED, "Slack " + what, cause);
  }

  private static String body(String text) {
    return JSON.createObjectNode().put("text", escape(Redactor.redact(text))).toString();
  }

  /**
   * Escapes the three characters that <a
   * href="https://docs.slack.dev/messaging/formatting-message-text#escaping">Slack</a> gives a
   * meaning, and cuts between whole characters.
   */
  static String escape(String text) {
    StringBuilder escaped = new StringBuilder();
    int at = 0;
    while (at < text.length()) {
      int character = text.codePointAt(at);
      String next =
          switch (character) {
            case '&' -> "&amp;";
            case '<' -> "&lt;";
            case '>' -> "&gt;";
            default -> Character.toString(character);
          };
      at += Character.charCount(character);
      // One place is kept for the sign that something is missing.
      boolean last = at == text.length();
      if (escaped.length() + next.length() > MOST_CHARACTERS - (last ? 0 : 1)) {
        return escaped.append('…').toString();
      }
      escaped.append(next);
    }
    return escaped.toString();
  }

  /** Slack explains a refusal by a word such as {@code no_service}. */
  private static String answer(String body) {
    String word = Redactor.redact(body).replaceAll("[^A-Za-z0-9_ .,:-]", " ").strip();
    if (word.isEmpty()) {
      return "";
    }
    return " (" + word.substring(0, Math.min(word.length(), MOST_CHARACTERS_OF_ANSWER)) + ")";
  }
}
