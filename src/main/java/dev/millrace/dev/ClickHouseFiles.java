package dev.millrace.dev;

import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.UUID;

/**
 * The folder of a ClickHouse server: data, logs, secrets, and the configuration that is written at
 * each start.
 *
 * <p>{@code users.d/*.xml} in it is read too, as ClickHouse does; nothing is written there.
 * Immutable.
 *
 * @param home the folder, an absolute path
 */
record ClickHouseFiles(Path home) {
  /** What goes into the log: no statement that was merely refused. */
  static final String LOG_LEVEL = "error";

  private static final long MEMORY_BYTES = 2L << 30;

  /** The longest interval that a quota takes, 68 years. */
  private static final int EVER_SECONDS = Integer.MAX_VALUE;

  /**
   * It may do what the server's own two statements do, and these use its quota up. So without the
   * password of another user, nothing but constants can be asked.
   */
  private static final String DEFAULT_USER =
      """
          <default>
            <password></password>
            <networks><ip>127.0.0.1</ip></networks>
            <profile>default</profile>
            <quota>start</quota>
            <grants>
              <query>GRANT SYSTEM LISTEN ON *.*</query>
              <query>GRANT SELECT ON system.numbers</query>
            </grants>
          </default>
      """;

  Path configuration() {
    return home.resolve("config.xml");
  }

  Path users() {
    return home.resolve("users.xml");
  }

  Path data() {
    return home.resolve("data");
  }

  /** Returns the server's own log, of at most two times 10 MB. */
  Path log() {
    return home.resolve("server.log");
  }

  /** Returns what the process writes, most of all why it did not start. */
  Path output() {
    return home.resolve("clickhouse.log");
  }

  Path port() {
    return home.resolve("port");
  }

  Path password() {
    return home.resolve("password");
  }

  Path adminPassword() {
    return home.resolve("admin-password");
  }

  /**
   * Writes what a server needs to start.
   *
   * @param engine what will run it
   * @param port its HTTP port
   */
  void write(ClickHouseEngine engine, int port) {
    keepSystemDatabase();
    Folders.writePrivate(configuration(), configuration(port));
    Folders.writePrivate(users(), users(engine));
  }

  /**
   * Otherwise the library has it in memory only, and can't make the query log at a second start,
   * because its folder is there.
   */
  private void keepSystemDatabase() {
    Path metadata = Folders.create(data().resolve("metadata")).resolve("system.sql");
    if (!Files.exists(metadata)) {
      Folders.writePrivate(
          metadata, "ATTACH DATABASE _ UUID '%s' ENGINE = Atomic\n".formatted(UUID.randomUUID()));
    }
  }

  private String configuration(int port) {
    return """
        <clickhouse>
          <!-- Written at each start; changes are lost. -->
          <listen_host>%1$s</listen_host>
          <http_port>%2$d</http_port>
          <path>%3$s/</path>
          <tmp_path>%3$s/tmp/</tmp_path>
          <user_files_path>%3$s/user_files/</user_files_path>
          <format_schema_path>%3$s/format_schemas/</format_schema_path>
          <logger>
            <level>%4$s</level>
            <log>%5$s</log>
            <size>10M</size>
            <count>1</count>
          </logger>
          <timezone>UTC</timezone>
          <max_server_memory_usage>%6$d</max_server_memory_usage>
          <mark_cache_size>134217728</mark_cache_size>
          <primary_index_cache_size>134217728</primary_index_cache_size>
          <mlock_executable>false</mlock_executable>
          <query_log>
            <database>system</database>
            <table>query_log</table>
            <flush_interval_milliseconds>1000</flush_interval_milliseconds>
          </query_log>
          <zookeeper><implementation>testkeeper</implementation></zookeeper>
          <macros><shard>1</shard><replica>1</replica></macros>
          <default_profile>default</default_profile>
          <users_config>%7$s</users_config>
          <user_directories>
            <users_xml><path>%7$s</path></users_xml>
            <local_directory><path>%3$s/access/</path></local_directory>
          </user_directories>
        </clickhouse>
        """
        .formatted(
            Ports.HOST,
            port,
            escaped(data()),
            LOG_LEVEL,
            escaped(log()),
            MEMORY_BYTES,
            escaped(users()));
  }

  private String users(ClickHouseEngine engine) {
    return """
        <clickhouse>
          <profiles><default/></profiles>
          <quotas>
            <default/>
            <start><interval><duration>%1$d</duration><queries>2</queries></interval></start>
          </quotas>
          <users>
        %2$s
            <%3$s>
        %4$s
              <grants>
                <query>GRANT ALL ON *.*</query>
                <query>GRANT NAMED COLLECTION ADMIN ON *</query>
                <query>REVOKE KILL QUERY, SYSTEM SHUTDOWN, ACCESS MANAGEMENT ON *.*</query>
              </grants>
            </%3$s>
            <%5$s>
        %6$s
              <access_management>1</access_management>
              <named_collection_control>1</named_collection_control>
            </%5$s>
          </users>
        </clickhouse>
        """
        .formatted(
            EVER_SECONDS,
            engine.needsDefaultUser() ? DEFAULT_USER : "",
            ClickHouseServer.USER,
            login(password()),
            ClickHouseServer.ADMIN,
            login(adminPassword()));
  }

  private static String login(Path passwordFile) {
    return """
              <password_sha256_hex>%s</password_sha256_hex>
              <networks><ip>127.0.0.1</ip></networks>
              <profile>default</profile>
              <quota>default</quota>
        """
        .formatted(sha256(Folders.secret(passwordFile)));
  }

  private static String sha256(String text) {
    try {
      byte[] digest =
          MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
      return HexFormat.of().formatHex(digest);
    } catch (NoSuchAlgorithmException e) {
      throw new MillraceException(ErrorCode.INTERNAL, "This JVM has no SHA-256", e);
    }
  }

  private static String escaped(Path path) {
    return path.toString().replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
  }
}
