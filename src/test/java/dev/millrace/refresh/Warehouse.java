package dev.millrace.refresh;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.HttpURLConnection;
import java.net.URI;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;

/** Placeholder: a real ClickHouse over HTTP. */
final class Warehouse {
  private static final String URL = System.getProperty("millrace.clickhouse", "http://127.0.0.1:18123");

  private Warehouse() {}

  interface Body {
    void write(OutputStream out) throws IOException;
  }

  static void execute(String sql) {
    send("", out -> out.write(sql.getBytes(StandardCharsets.UTF_8)));
  }

  static List<List<String>> rows(String sql) {
    String text = send("", out -> out.write((sql + "\nFORMAT TSVRaw").getBytes(StandardCharsets.UTF_8)));
    return text.lines().map(line -> Arrays.asList(line.split("\t", -1))).toList();
  }

  static void insert(String sql, Body body) {
    send(sql, body);
  }

  private static String send(String query, Body body) {
    try {
      HttpURLConnection c = (HttpURLConnection) URI.create(URL + "/?query=" + URLEncoder.encode(query, StandardCharsets.UTF_8)).toURL().openConnection();
      c.setRequestMethod("POST");
      c.setDoOutput(true);
      c.setChunkedStreamingMode(1 << 18);
      try (OutputStream out = c.getOutputStream()) {
        body.write(out);
      }
      if (c.getResponseCode() != 200) {
        throw new IllegalStateException(new String(c.getErrorStream().readAllBytes(), StandardCharsets.UTF_8));
      }
      return new String(c.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
