package dev.millrace.dev;

import com.fasterxml.jackson.databind.json.JsonMapper;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.function.Consumer;

/**
 * Stands for Slack on a stack of {@code dev}: alerts are shown where the stack runs, so that a
 * schedule with {@code notify_slack} works as it is. Thread-safe.
 */
final class AlertServer implements AutoCloseable {
  private static final int MOST_BYTES = 1 << 16;
  private static final byte[] ANSWER = "ok".getBytes(StandardCharsets.UTF_8);

  private final HttpServer server;

  private AlertServer(HttpServer server) {
    this.server = server;
  }

  /**
   * Starts the server on a free port of the loopback address.
   *
   * @param shown is told the text of each alert
   */
  static AlertServer start(Consumer<String> shown) {
    try {
      HttpServer server =
          HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
      server.createContext("/alerts", exchange -> answer(exchange, shown));
      server.start();
      return new AlertServer(server);
    } catch (IOException exception) {
      throw new MillraceException(
          ErrorCode.STACK_FAILED, "the server for alerts can't be started", exception);
    }
  }

  private static void answer(HttpExchange exchange, Consumer<String> shown) throws IOException {
    try (exchange;
        InputStream body = exchange.getRequestBody()) {
      String text = new JsonMapper().readTree(body.readNBytes(MOST_BYTES)).path("text").asText();
      shown.accept(text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"));
      exchange.sendResponseHeaders(200, ANSWER.length);
      exchange.getResponseBody().write(ANSWER);
    }
  }

  /** Returns what to configure as {@code slack.webhook}. */
  URI webhook() {
    return URI.create("http://%s:%d/alerts".formatted(Ports.HOST, server.getAddress().getPort()));
  }

  @Override
  public void close() {
    server.stop(0);
  }
}
