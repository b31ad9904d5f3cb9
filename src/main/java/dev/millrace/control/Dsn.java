package dev.millrace.control;

import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import dev.millrace.failure.Redactor;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.postgresql.Driver;
import org.postgresql.PGProperty;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * Reads where a database is: a <a
 * href="https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING-URIS">URI of
 * libpq</a>, read as libpq does, or a URL of the JDBC driver.
 *
 * <p>No message quotes a part of it: where a password is misplaced, anything may be one. Stateless
 * to its callers.
 */
final class Dsn {
  private static final String JDBC = "jdbc:postgresql:";
  private static final List<String> SCHEMES = List.of("postgresql://", "postgres://");

  private static final String JDBC_HOST = "(\\[[^]/]*]|[^]:,/\\[]*)(:\\d{1,5})?";
  private static final Pattern JDBC_PLACE =
      Pattern.compile(JDBC + "(//" + JDBC_HOST + "(," + JDBC_HOST + ")*/?)?[^/:]*");

  private static final int CONNECT_TIMEOUT_SECONDS = 10;

  /** Longer than a statement may take, so that the server's own answer is the one that is told. */
  private static final int SOCKET_TIMEOUT_SECONDS = 70;

  private static final int PORT = 5432;

  private static final List<String> SSL_MODES =
      List.of("disable", "allow", "prefer", "require", "verify-ca", "verify-full");

  /** What changes neither where the connection goes nor how safe it is. */
  private static final Set<String> IGNORED =
      Set.of(
          "client_encoding",
          "fallback_application_name",
          "keepalives",
          "keepalives_count",
          "keepalives_idle",
          "keepalives_interval",
          "sslcompression",
          "sslsni",
          "tcp_user_timeout");

  private final PGSimpleDataSource source = new PGSimpleDataSource();
  private final List<String> hosts = new ArrayList<>();
  private final List<String> ports = new ArrayList<>();

  private Dsn() {}

  /**
   * Returns a source of connections. Passwords are told to {@link Redactor}.
   *
   * @throws MillraceException with {@code BAD_CONFIGURATION}
   */
  static PGSimpleDataSource read(String dsn) {
    String text = dsn.strip();
    if (text.isEmpty()) {
      throw bad("is empty; leave it out to run without a database, or give a URI");
    }
    Dsn read = new Dsn();
    String scheme = SCHEMES.stream().filter(text::startsWith).findFirst().orElse(null);
    if (scheme != null) {
      read.uri(text.substring(scheme.length()));
    } else if (text.startsWith(JDBC)) {
      read.jdbc(text);
    } else {
      throw bad("does not begin with postgresql://, postgres:// or " + JDBC);
    }
    return read.withOurSettings();
  }

  private PGSimpleDataSource withOurSettings() {
    // A pooler in transaction mode knows no statements by name.
    source.setPrepareThreshold(0);
    source.setLogServerErrorDetail(false);
    // The name goes with the start-up message instead of a SET that a pooler would keep.
    source.setAssumeMinServerVersion("12");
    source.setTcpKeepAlive(true);
    if (source.getConnectTimeout() <= 0) {
      source.setConnectTimeout(CONNECT_TIMEOUT_SECONDS);
    }
    // A server that takes the connection and says nothing is bounded, too.
    source.setLoginTimeout(source.getConnectTimeout());
    if (source.getSocketTimeout() <= 0) {
      source.setSocketTimeout(SOCKET_TIMEOUT_SECONDS);
    }
    return source;
  }

  private void jdbc(String url) {
    int query = url.indexOf('?');
    String place = query < 0 ? url : url.substring(0, query);
    if (place.indexOf('@') >= 0) {
      throw bad("has a '@' before its parameters; in a JDBC URL user and password are parameters");
    }
    if (!JDBC_PLACE.matcher(place).matches()) {
      // The driver would log what it takes for a port.
      throw bad("does not have jdbc:postgresql://host:port/database before its parameters");
    }
    if (query >= 0) {
      registerRawSecrets(url.substring(query + 1));
    }
    Properties given = Driver.parseURL(url, null);
    if (given == null) {
      throw bad("is not a URL that the JDBC driver can read");
    }
    register(PGProperty.PASSWORD.getOrNull(given));
    register(PGProperty.SSL_PASSWORD.getOrNull(given));
    try {
      source.setURL(url);
    } catch (IllegalArgumentException exception) {
      throw bad("has a parameter whose value the JDBC driver can't read");
    }
    if (PGProperty.APPLICATION_NAME.getOrNull(given) == null) {
      source.setApplicationName("millrace");
    }
    if (PGProperty.CONNECT_TIMEOUT.getOrNull(given) == null) {
      source.setConnectTimeout(CONNECT_TIMEOUT_SECONDS);
    }
  }

  private static void registerRawSecrets(String query) {
    for (String parameter : query.split("&", -1)) {
      int equals = parameter.indexOf('=');
      if (equals > 0 && parameter.substring(0, equals).endsWith("password")) {
        register(parameter.substring(equals + 1));
      }
    }
  }

  private static void register(String secret) {
    if (secret != null) {
      Redactor.register(secret);
    }
  }

  /** Reads {@code [user[:password]@][host[:port],…][/database][?name=value&…]}. */
  private void uri(String text) {
    source.setApplicationName("millrace");
    String rest = userInfo(text);
    int query = rest.indexOf('?');
    String place = query < 0 ? rest : rest.substring(0, query);
    if (place.indexOf('@') >= 0) {
      throw bad(
          "has a '@' too many; in a user, password or database write it as %40, and '/' as %2F");
    }
    int slash = place.indexOf('/');
    hosts(slash < 0 ? place : place.substring(0, slash));
    if (slash >= 0 && slash + 1 < place.length()) {
      source.setDatabaseName(decode(place.substring(slash + 1)));
    }
    if (query >= 0) {
      parameters(rest.substring(query + 1));
    }
    if (source.getUser() == null) {
      source.setUser(System.getProperty("user.name"));
    }
    if (source.getDatabaseName() == null || source.getDatabaseName().isEmpty()) {
      source.setDatabaseName(source.getUser());
    }
    setPlace();
  }

  /** Takes the user and the password off, which end at a '@' before any '/'. */
  private String userInfo(String text) {
    int at = text.indexOf('@');
    int slash = text.indexOf('/');
    if (at < 0 || (slash >= 0 && slash < at)) {
      return text;
    }
    String info = text.substring(0, at);
    int colon = info.indexOf(':');
    if (colon >= 0) {
      password(info.substring(colon + 1));
    }
    String user = decode(colon < 0 ? info : info.substring(0, colon));
    if (!user.isEmpty()) {
      source.setUser(user);
    }
    return text.substring(at + 1);
  }

  private void password(String raw) {
    register(raw);
    String password = decode(raw);
    register(password);
    if (!password.isEmpty()) {
      source.setPassword(password);
    }
  }

  private void hosts(String text) {
    for (String place : text.split(",", -1)) {
      int end = place.startsWith("[") ? place.indexOf(']') + 1 : 0;
      int colon = place.indexOf(':', end);
      hosts.add(decode(colon < 0 ? place : place.substring(0, colon)));
      ports.add(colon < 0 ? "" : place.substring(colon + 1));
    }
  }

  private void setPlace() {
    if (ports.size() != 1 && ports.size() != hosts.size()) {
      throw bad("has another number of ports than of hosts");
    }
    source.setServerNames(hosts.stream().map(Dsn::host).toArray(String[]::new));
    source.setPortNumbers(
        IntStream.range(0, hosts.size())
            .map(i -> port(ports.get(ports.size() == 1 ? 0 : i)))
            .toArray());
  }

  private static String host(String host) {
    if (host.startsWith("/") || host.startsWith("@")) {
      throw bad("names a Unix socket, which Java can't use here; name a host");
    }
    return host.isEmpty() ? "localhost" : host;
  }

  private static int port(String port) {
    if (port.isEmpty()) {
      return PORT;
    }
    int number = number(port, "the port");
    if (number < 1 || number > 65_535) {
      throw bad("has a port that is not one of 1 to 65535");
    }
    return number;
  }

  private static int number(String text, String what) {
    try {
      return Integer.parseInt(text.strip());
    } catch (NumberFormatException exception) {
      throw bad(
          what + " is not a number; in a password write '/' as %2F, ':' as %3A and '@' as %40");
    }
  }

  private void parameters(String query) {
    for (String parameter : query.split("&", -1)) {
      int equals = parameter.indexOf('=');
      if (equals < 0) {
        throw bad("has a parameter without '='");
      }
      String raw = parameter.substring(equals + 1);
      parameter(decode(parameter.substring(0, equals)), raw, decode(raw));
    }
  }

  private void parameter(String name, String raw, String value) {
    switch (name) {
      case "host" -> replace(hosts, value);
      case "port" -> replace(ports, value);
      case "dbname" -> source.setDatabaseName(value);
      case "user" -> source.setUser(value);
      case "password" -> password(raw);
      case "application_name" -> source.setApplicationName(value);
      case "options" -> source.setOptions(value);
      case "connect_timeout" -> source.setConnectTimeout(number(value, "connect_timeout"));
      case "sslmode" -> source.setSslMode(oneOf(name, value, SSL_MODES));
      case "ssl" -> {
        oneOf(name, value, List.of("true"));
        source.setSslMode("require");
      }
      case "sslrootcert" -> rootCertificate(value);
      case "sslcert" -> source.setSslCert(value);
      case "sslkey" -> source.setSslKey(value);
      case "sslpassword" -> {
        register(raw);
        register(value);
        source.setSslPassword(value);
      }
      case "sslnegotiation" ->
          source.setSslNegotiation(oneOf(name, value, List.of("postgres", "direct")));
      case "channel_binding" ->
          source.setChannelBinding(oneOf(name, value, List.of("disable", "prefer", "require")));
      case "gssencmode" ->
          source.setGssEncMode(oneOf(name, value, List.of("disable", "prefer", "require")));
      case "require_auth" -> source.setRequireAuth(value);
      case "target_session_attrs" ->
          // The control plane is written to.
          source.setTargetServerType(
              oneOf(name, value, List.of("any", "read-write", "primary")).equals("any")
                  ? "any"
                  : "primary");
      case "load_balance_hosts" ->
          source.setLoadBalanceHosts(
              oneOf(name, value, List.of("disable", "random")).equals("random"));
      default -> {
        if (!IGNORED.contains(name)) {
          // A misspelt sslmode must not become a connection in the clear.
          throw bad("has a parameter that is not known here: " + name);
        }
      }
    }
  }

  private static void replace(List<String> list, String value) {
    list.clear();
    list.addAll(List.of(value.split(",", -1)));
  }

  private void rootCertificate(String value) {
    if (!value.equals("system")) {
      source.setSslRootCert(value);
      return;
    }
    source.setSslfactory("org.postgresql.ssl.DefaultJavaSSLFactory");
    if (source.getSslMode() == null) {
      source.setSslMode("verify-full");
    }
  }

  private static String oneOf(String name, String value, List<String> values) {
    if (!values.contains(value)) {
      throw bad("has a %s that is not one of %s".formatted(name, String.join(", ", values)));
    }
    return value;
  }

  /** Percent-decodes as libpq does: a '+' is a '+'. */
  private static String decode(String text) {
    if (text.indexOf('%') < 0) {
      return text;
    }
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    byte[] raw = text.getBytes(StandardCharsets.UTF_8);
    for (int i = 0; i < raw.length; i++) {
      if (raw[i] != '%') {
        bytes.write(raw[i]);
        continue;
      }
      int high = i + 2 < raw.length ? Character.digit(raw[i + 1], 16) : -1;
      int low = i + 2 < raw.length ? Character.digit(raw[i + 2], 16) : -1;
      if (high < 0 || low < 0 || high + low == 0) {
        throw bad("has a '%' that is not followed by two hexadecimal digits; write it as %25");
      }
      bytes.write(16 * high + low);
      i += 2;
    }
    try {
      return StandardCharsets.UTF_8
          .newDecoder()
          .decode(ByteBuffer.wrap(bytes.toByteArray()))
          .toString();
    } catch (CharacterCodingException exception) {
      throw bad("has percent-encoded bytes that are not UTF-8");
    }
  }

  private static MillraceException bad(String problem) {
    return new MillraceException(
        ErrorCode.BAD_CONFIGURATION,
        "the DSN of the control plane %s; it looks like postgresql://host:5432/database?user=name&sslmode=verify-full"
            .formatted(problem));
  }
}
