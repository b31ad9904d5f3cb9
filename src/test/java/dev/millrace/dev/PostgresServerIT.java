package dev.millrace.dev;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.failure.MillraceException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PostgresServerIT {
  private static final Duration BOUND = Duration.ofMinutes(1);

  @TempDir Path folder;

  @Test
  void itTakesItsPasswordAndNoOther() throws SQLException {
    try (PostgresServer server = PostgresServer.start(folder, 0, false)) {
      try (Connection connection = server.connect()) {
        assertThat(text(connection, "SELECT current_database()")).isEqualTo("appdb");
        assertThat(text(connection, "SHOW server_version")).startsWith("18.");
        assertThat(text(connection, "SHOW listen_addresses")).isEqualTo("127.0.0.1");
        assertThat(text(connection, "SHOW password_encryption")).isEqualTo("scram-sha-256");
      }
      for (String wrong : List.of("postgres", "")) {
        assertThatThrownBy(() -> DriverManager.getConnection(server.jdbcUrl(), "postgres", wrong))
            .isInstanceOf(SQLException.class)
            .hasMessageContaining("password");
      }
      assertThat(permissions(server.passwordFile())).isEqualTo("rw-------");
    }
  }

  @Test
  void rowsSurviveAKilledJvm() throws SQLException {
    int port;
    try (ChildJvm child = ChildJvm.start(Holder.class, folder.toString())) {
      port = Integer.parseInt(child.await("ready "));
      child.kill();
    }
    try (PostgresServer server = PostgresServer.start(folder, port, true);
        Connection connection = server.connect()) {
      assertThat(text(connection, "SELECT count(*) FROM kept")).isEqualTo("1000");
    }
  }

  @Test
  void rowsSurviveAKilledPostmaster() throws SQLException {
    String password;
    try (PostgresServer server = PostgresServer.start(folder, 0, true)) {
      password = server.password();
      keepRows(server);
      ProcessHandle.of(postmaster(folder)).orElseThrow().destroyForcibly();
      assertThat(server.ended()).succeedsWithin(BOUND);
    }
    try (PostgresServer server = PostgresServer.start(folder, 0, true);
        Connection connection = server.connect()) {
      assertThat(server.password()).isEqualTo(password);
      assertThat(text(connection, "SELECT count(*) FROM kept")).isEqualTo("1000");
    }
  }

  @Test
  void aServerLeftBehindIsEndedFirst() throws SQLException {
    try (PostgresServer left = PostgresServer.start(folder, 0, true);
        Connection open = left.connect()) {
      assertThat(open.isValid(0)).isTrue();
      keepRows(left);
      long leftPostmaster = postmaster(folder);
      try (PostgresServer server = PostgresServer.start(folder, left.port(), true);
          Connection connection = server.connect()) {
        assertThat(left.ended()).succeedsWithin(BOUND);
        assertThat(postmaster(folder)).isNotEqualTo(leftPostmaster);
        assertThat(text(connection, "SELECT count(*) FROM kept")).isEqualTo("1000");
      }
    }
  }

  @Test
  void aNumberOfAnotherProcessInThePidFileIsNoHindrance() throws Exception {
    PostgresServer.start(folder, 0, false).close();
    Files.writeString(
        folder.resolve("data/postmaster.pid"), ProcessHandle.current().pid() + "\n/nowhere\n");
    try (PostgresServer server = PostgresServer.start(folder, 0, false);
        Connection connection = server.connect()) {
      assertThat(connection.isValid(0)).isTrue();
    }
  }

  @Test
  void aLostPasswordFileIsToldAsSuch() throws Exception {
    PostgresServer first = PostgresServer.start(folder, 0, false);
    first.close();
    Files.writeString(first.passwordFile(), "another");
    assertThatThrownBy(() -> PostgresServer.start(folder, 0, false).close())
        .isInstanceOf(MillraceException.class)
        .hasMessageContaining(first.passwordFile().toString());
  }

  @Test
  void aPortInUseIsNamedWithTheOptionThatChangesIt() throws Exception {
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      assertThatThrownBy(() -> PostgresServer.start(folder, taken.getLocalPort(), false).close())
          .isInstanceOf(MillraceException.class)
          .hasMessageContaining(Integer.toString(taken.getLocalPort()))
          .hasMessageContaining("--postgres-port");
    }
  }

  /** Starts a server, fills a table and waits to be killed. */
  static final class Holder {
    private Holder() {}

    public static void main(String[] arguments) throws Exception {
      PostgresServer server = PostgresServer.start(Path.of(arguments[0]), 0, true);
      keepRows(server);
      System.out.println("ready " + server.port());
      Thread.sleep(Long.MAX_VALUE);
    }
  }

  private static void keepRows(PostgresServer server) throws SQLException {
    try (Connection connection = server.connect();
        Statement statement = connection.createStatement()) {
      statement.execute("CREATE TABLE kept AS SELECT generate_series(1, 1000) AS id");
    }
  }

  private static long postmaster(Path folder) {
    return Long.parseLong(
        Folders.read(folder.resolve("data/postmaster.pid")).lines().findFirst().orElseThrow());
  }

  private static String permissions(Path file) {
    try {
      return PosixFilePermissions.toString(Files.getPosixFilePermissions(file));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String text(Connection connection, String query) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(query)) {
      row.next();
      return row.getString(1);
    }
  }
}
