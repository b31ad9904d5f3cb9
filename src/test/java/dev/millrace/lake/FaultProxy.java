package dev.millrace.lake;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.apache.hc.client5.http.impl.classic.CloseableHttpClient;
import org.apache.hc.client5.http.impl.classic.HttpClients;
import org.apache.hc.client5.http.impl.io.PoolingHttpClientConnectionManagerBuilder;
import org.apache.hc.core5.http.ClassicHttpResponse;
import org.apache.hc.core5.http.ContentType;
import org.apache.hc.core5.http.Header;
import org.apache.hc.core5.http.HttpHost;
import org.apache.hc.core5.http.io.entity.ByteArrayEntity;
import org.apache.hc.core5.http.io.entity.EntityUtils;
import org.apache.hc.core5.http.message.BasicClassicHttpRequest;
import org.apache.hc.core5.net.URIAuthority;

/**
 * Stands between a client and a real S3 server, notes each request, and lets some fail on purpose.
 *
 * <p>The host name of a request stays as it is, so its signature holds unless headers are hidden.
 * Thread-safe.
 */
final class FaultProxy implements AutoCloseable {
  private static final Set<String> OWN_HEADERS =
      Set.of("host", "connection", "content-length", "transfer-encoding", "expect");

  /** A request as it arrived; names of headers in lower case. */
  record Request(String method, String path, String query, Map<String, String> headers) {
    boolean creates() {
      return method.equals("POST") && query.equals("uploads");
    }

    boolean sendsPart() {
      return method.equals("PUT") && query.contains("partNumber=");
    }

    boolean sendsPart(int number) {
      return sendsPart() && List.of(query.split("&")).contains("partNumber=" + number);
    }

    boolean completes() {
      return method.equals("POST") && query.startsWith("uploadId=");
    }

    boolean aborts() {
      return method.equals("DELETE") && query.startsWith("uploadId=");
    }

    boolean looks() {
      return method.equals("HEAD");
    }

    boolean listsUploads() {
      return method.equals("GET") && List.of(query.split("&")).contains("uploads");
    }
  }

  /** What becomes of a request. */
  sealed interface Verdict {}

  /** The server answers it. */
  record Pass() implements Verdict {}

  /** It never reaches the server. */
  record Fail(int status, String code) implements Verdict {}

  /** The server does it, and the answer is lost. */
  record Lose() implements Verdict {}

  /** The rule of a test. */
  interface Rule {
    Verdict judge(Request request);
  }

  static final Verdict PASS = new Pass();

  private final HttpServer server;
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final CloseableHttpClient client;
  private final URI target;
  private final Set<String> hidden;
  private final List<Request> requests = new CopyOnWriteArrayList<>();
  private volatile Rule rule = request -> PASS;

  /**
   * Starts it on a free port.
   *
   * @param hidden names of headers, in lower case, that the server is not shown
   */
  FaultProxy(URI target, Set<String> hidden) {
    this.target = target;
    this.hidden = hidden;
    this.client =
        HttpClients.custom()
            .setConnectionManager(
                PoolingHttpClientConnectionManagerBuilder.create()
                    .setMaxConnPerRoute(50)
                    .setMaxConnTotal(50)
                    .build())
            .disableContentCompression()
            .disableRedirectHandling()
            .disableAutomaticRetries()
            .disableDefaultUserAgent()
            .build();
    try {
      server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    server.setExecutor(threads);
    server.createContext("/", this::handle);
    server.start();
  }

  URI endpoint() {
    return URI.create("http://127.0.0.1:" + server.getAddress().getPort());
  }

  void rule(Rule rule) {
    this.rule = rule;
  }

  List<Request> requests() {
    return List.copyOf(requests);
  }

  private void handle(HttpExchange exchange) throws IOException {
    try (exchange) {
      Map<String, String> headers = new TreeMap<>();
      exchange
          .getRequestHeaders()
          .forEach((name, values) -> headers.put(name.toLowerCase(Locale.ROOT), values.get(0)));
      URI uri = exchange.getRequestURI();
      Request request =
          new Request(
              exchange.getRequestMethod(),
              uri.getRawPath(),
              uri.getRawQuery() == null ? "" : uri.getRawQuery(),
              headers);
      byte[] body = exchange.getRequestBody().readAllBytes();
      requests.add(request);
      Verdict verdict = rule.judge(request);
      if (verdict instanceof Fail fail) {
        answer(exchange, request, fail);
        return;
      }
      forward(exchange, uri, request, body, verdict instanceof Lose);
    }
  }

  private static void answer(HttpExchange exchange, Request request, Fail fail) throws IOException {
    byte[] body =
        ("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error><Code>"
                + fail.code()
                + "</Code><Message>on purpose</Message></Error>")
            .getBytes(StandardCharsets.UTF_8);
    exchange.getResponseHeaders().set("Content-Type", "application/xml");
    if (request.looks()) {
      exchange.sendResponseHeaders(fail.status(), -1);
      return;
    }
    exchange.sendResponseHeaders(fail.status(), body.length);
    exchange.getResponseBody().write(body);
  }

  private void forward(HttpExchange exchange, URI uri, Request request, byte[] body, boolean lose)
      throws IOException {
    BasicClassicHttpRequest forwarded =
        new BasicClassicHttpRequest(
            request.method(),
            request.query().isEmpty()
                ? uri.getRawPath()
                : uri.getRawPath() + "?" + request.query());
    forwarded.setScheme("http");
    forwarded.setAuthority(new URIAuthority("127.0.0.1", exchange.getLocalAddress().getPort()));
    request
        .headers()
        .forEach(
            (name, value) -> {
              if (!OWN_HEADERS.contains(name) && !hidden.contains(name)) {
                forwarded.setHeader(name, value);
              }
            });
    if (body.length > 0 || request.method().equals("PUT") || request.method().equals("POST")) {
      String type = request.headers().get("content-type");
      forwarded.setEntity(new ByteArrayEntity(body, type == null ? null : ContentType.parse(type)));
    }
    HttpHost host = new HttpHost("http", target.getHost(), target.getPort());
    try (ClassicHttpResponse response = client.executeOpen(host, forwarded, null)) {
      byte[] answer =
          response.getEntity() == null
              ? new byte[0]
              : EntityUtils.toByteArray(response.getEntity());
      if (lose) {
        // Closing the exchange without an answer cuts the connection.
        return;
      }
      for (Header header : response.getHeaders()) {
        boolean length = header.getName().equalsIgnoreCase("content-length");
        if (!OWN_HEADERS.contains(header.getName().toLowerCase(Locale.ROOT))
            || (length && request.looks())) {
          exchange.getResponseHeaders().add(header.getName(), header.getValue());
        }
      }
      exchange.sendResponseHeaders(response.getCode(), answer.length == 0 ? -1 : answer.length);
      exchange.getResponseBody().write(answer);
    }
  }

  @Override
  public void close() {
    server.stop(0);
    threads.shutdownNow();
    try {
      client.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
