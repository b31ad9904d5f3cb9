package dev.millrace.dev;

import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import dev.millrace.failure.Redactor;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiPredicate;

/**
 * A real Postgres on 127.0.0.1, over a folder that it can be started on again.
 *
 * <p>User {@code postgres} with a generated password, database {@code appdb}. The password is
 * required on every connection (scram-sha-256); there is no Unix socket and no TLS. It ends with
 * this JVM, however that ends. Thread-safe.
 */
public final class PostgresServer implements AutoCloseable {
  /** The superuser's name. */
  public static final String USER = "postgres";

  /** The database that is there from the start. */
  public static final String DATABASE = "appdb";

  private static final String NAME = "Postgres";
  private static final Duration START_BOUND = Duration.ofMinutes(2);

  /** Fast shutdown, immediate shutdown; SIGTERM would wait for the clients. */
  private static final List<String> SIGNALS = List.of("INT", "QUIT", "KILL");

  private final int port;
  private final String password;
  private final Path passwordFile;
  private final ProcessGuard guard;

  private PostgresServer(int port, String password, Path passwordFile, ProcessGuard guard) {
    this.port = port;
    this.password = password;
    this.passwordFile = passwordFile;
    this.guard = guard;
  }

  /**
   * Starts Postgres and waits until it takes connections.
   *
   * @param folder where data, password and log are kept; made when missing
   * @param port the port, or 0 for any that is free
   * @param durable whether data survives a crash of the host; a killed process loses none anyway
   * @return the server, ready
   * @throws MillraceException {@code STACK_FAILED} when it can't be started, with the cause
   */
  public static PostgresServer start(Path folder, int port, boolean durable) {
    Path home = Folders.create(folder.toAbsolutePath().normalize());
    Path data = home.resolve("data");
    Path log = home.resolve("postgres.log");
    Path passwordFile = home.resolve("password");
    Path binaries = PostgresBinaries.unpack(Folders.cache(System.getenv()));
    if (!Files.exists(data.resolve("PG_VERSION"))) {
      initialise(binaries, data, passwordFile, log);
    }
    String password = Folders.read(passwordFile);
    Redactor.register(password);
    endLeftovers(data);
    int chosen = Ports.choose(port, NAME, "--postgres-port");
    ProcessGuard guard =
        ProcessGuard.start(NAME, command(binaries, data, chosen, durable), SIGNALS, log);
    PostgresServer server = new PostgresServer(chosen, password, passwordFile, guard);
    try {
      server.awaitConnections();
      server.createDatabase();
      return server;
    } catch (RuntimeException e) {
      guard.close();
      throw e;
    }
  }

  /** Returns the host: always 127.0.0.1. */
  public String host() {
    return Ports.HOST;
  }

  /** Returns the port. */
  public int port() {
    return port;
  }

  /** Returns the password of {@link #USER}; {@link Redactor} knows it. */
  public String password() {
    return password;
  }

  /** Returns the file, mode 0600, that holds the password and nothing else. */
  public Path passwordFile() {
    return passwordFile;
  }

  /** Returns the JDBC URL of {@link #DATABASE}, without user and password. */
  public String jdbcUrl() {
    return jdbcUrl(DATABASE);
  }

  /** Returns the connection URI of libpq, with the password: a secret. */
  public String url() {
    return "postgresql://%s:%s@%s:%d/%s?sslmode=disable"
        .formatted(USER, password, host(), port, DATABASE);
  }

  /**
   * Opens a connection to {@link #DATABASE} as {@link #USER}; the caller closes it.
   *
   * @throws SQLException when Postgres refuses
   */
  public Connection connect() throws SQLException {
    return connect(DATABASE);
  }

  /** Returns what completes with an exit code when the server has ended, for whatever reason. */
  public CompletableFuture<Integer> ended() {
    return guard.ended();
  }

  /** Returns what to tell when the server ended on its own. */
  String lastWords() {
    return guard.lastWords();
  }

  /** Shuts the server down and waits until it is gone. Clients lose their connections. */
  @Override
  public void close() {
    guard.close();
  }

  private static void initialise(Path binaries, Path data, Path passwordFile, Path log) {
    Folders.secret(passwordFile);
    // Under another name at first: a start that is killed here leaves no half of a data folder.
    Path unfinished = data.resolveSibling("data.new");
    Folders.delete(unfinished);
    List<String> command = asUser(binaries.resolve("bin/initdb"));
    command.addAll(List.of("--pgdata", unfinished.toString(), "--username", USER));
    command.addAll(List.of("--auth", "scram-sha-256", "--pwfile", passwordFile.toString()));
    command.addAll(List.of("--encoding", "UTF8", "--locale", "C"));
    command.addAll(List.of("--locale-provider", "builtin", "--builtin-locale", "C.UTF-8"));
    command.add("--no-instructions");
    ProcessGuard.start("initdb", command, List.of("TERM", "KILL"), log).requireSuccess(START_BOUND);
    try {
      Files.move(unfinished, data);
    } catch (IOException e) {
      throw new MillraceException(
          ErrorCode.STACK_FAILED, "Can't make the data folder of Postgres " + data + ": " + e, e);
    }
  }

  private static void endLeftovers(Path data) {
    // Backends outlive a killed postmaster for a while; all of them work in the data folder.
    BiPredicate<Long, Leftovers.Seen> ours =
        (pid, seen) ->
            (seen.program().equals("postgres") || seen.arguments().get(0).startsWith("postgres:"))
                && (seen.directory().equals(data) || seen.arguments().contains(data.toString()));
    Leftovers.end(NAME, SIGNALS, ours);
    try {
      // Postgres would take any process that has the number by now for a running server.
      Files.deleteIfExists(data.resolve("postmaster.pid"));
    } catch (IOException e) {
      throw new MillraceException(
          ErrorCode.STACK_FAILED, "Can't remove the stale postmaster.pid in " + data + ": " + e, e);
    }
  }

  private static List<String> command(Path binaries, Path data, int port, boolean durable) {
    List<String> command = asUser(binaries.resolve("bin/postgres"));
    command.addAll(List.of("-D", data.toString(), "-p", Integer.toString(port)));
    List<String> settings = new ArrayList<>();
    settings.add("listen_addresses=" + Ports.HOST);
    settings.add("unix_socket_directories=");
    settings.add("max_connections=200");
    settings.add("timezone=UTC");
    settings.add("log_timezone=UTC");
    settings.add("log_min_messages=warning");
    if (!durable) {
      settings.addAll(List.of("fsync=off", "synchronous_commit=off", "full_page_writes=off"));
    }
    for (String setting : settings) {
      command.addAll(List.of("-c", setting));
    }
    return command;
  }

  /** Postgres refuses to run as root; in a user namespace of its own it is nobody. */
  private static List<String> asUser(Path program) {
    List<String> command = new ArrayList<>();
    if (isRoot()) {
      command.addAll(List.of("unshare", "--user"));
    }
    command.add(program.toString());
    return command;
  }

  private static boolean isRoot() {
    try {
      return Files.getAttribute(Path.of("/proc/self"), "unix:uid").equals(0);
    } catch (IOException e) {
      throw new MillraceException(
          ErrorCode.STACK_FAILED, "Can't tell whether this user is root: " + e, e);
    }
  }

  private void awaitConnections() {
    boolean ready = Waiting.until(START_BOUND, this::takesConnections);
    if (!ready) {
      throw new MillraceException(
          ErrorCode.STACK_FAILED,
          NAME
              + " took no connection within "
              + START_BOUND.toSeconds()
              + " s. "
              + guard.lastWords());
    }
  }

  private boolean takesConnections() {
    if (!guard.isAlive()) {
      throw new MillraceException(ErrorCode.STACK_FAILED, guard.lastWords());
    }
    if (!Ports.answers(port)) {
      return false;
    }
    try (Connection connection = connect("postgres")) {
      return connection.isValid(0);
    } catch (SQLException e) {
      String state = e.getSQLState() == null ? "" : e.getSQLState();
      if (state.startsWith("28")) {
        throw new MillraceException(
            ErrorCode.STACK_FAILED,
            "The password in "
                + passwordFile
                + " is not that of the data beside it; "
                + "restore the file, or start over another folder",
            e);
      }
      return false;
    }
  }

  private void createDatabase() {
    try (Connection connection = connect("postgres");
        Statement statement = connection.createStatement();
        ResultSet found =
            statement.executeQuery("SELECT FROM pg_database WHERE datname = '" + DATABASE + "'")) {
      if (found.next()) {
        return;
      }
      statement.execute("CREATE DATABASE " + DATABASE);
    } catch (SQLException e) {
      throw new MillraceException(
          ErrorCode.STACK_FAILED, "Can't make the database " + DATABASE + ": " + e.getMessage(), e);
    }
  }

  private Connection connect(String database) throws SQLException {
    Properties properties = new Properties();
    properties.setProperty("user", USER);
    properties.setProperty("password", password);
    return DriverManager.getConnection(jdbcUrl(database), properties);
  }

  private String jdbcUrl(String database) {
    return "jdbc:postgresql://%s:%d/%s?sslmode=disable".formatted(Ports.HOST, port, database);
  }
}
