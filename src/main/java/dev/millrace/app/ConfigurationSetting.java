package dev.millrace.app;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Every setting of the configuration file with its type and default; {@code docs/configuration.md}
 * holds the same table for people, and a test compares the two.
 *
 * <p>An asterisk in a path stands for the name that a connection or a lake is given. Immutable.
 */
enum ConfigurationSetting {
  TEMPORAL_ADDRESS("temporal.address", Type.ADDRESS, Presence.DEFAULT, "127.0.0.1:7233"),
  TEMPORAL_NAMESPACE("temporal.namespace", Type.TEXT, Presence.DEFAULT, "default"),
  TEMPORAL_TASK_QUEUE("temporal.task_queue", Type.TEXT, Presence.DEFAULT, "millrace"),
  TEMPORAL_API_KEY("temporal.api_key", Type.SECRET, Presence.OPTIONAL),
  TEMPORAL_TLS_SERVER_NAME("temporal.tls.server_name", Type.TEXT, Presence.OPTIONAL),
  TEMPORAL_TLS_CA("temporal.tls.ca", Type.SECRET, Presence.OPTIONAL),
  TEMPORAL_TLS_CERTIFICATE("temporal.tls.certificate", Type.SECRET, Presence.OPTIONAL),
  TEMPORAL_TLS_KEY("temporal.tls.key", Type.SECRET, Presence.OPTIONAL),

  POSTGRES_HOST("postgres.*.host", Type.TEXT, Presence.REQUIRED),
  POSTGRES_PORT("postgres.*.port", Type.NUMBER, Presence.DEFAULT, "5432"),
  POSTGRES_DATABASE("postgres.*.database", Type.TEXT, Presence.REQUIRED),
  POSTGRES_USER("postgres.*.user", Type.TEXT, Presence.REQUIRED),
  POSTGRES_PASSWORD("postgres.*.password", Type.SECRET, Presence.OPTIONAL),
  POSTGRES_SSLMODE("postgres.*.sslmode", Type.CHOICE, Presence.DEFAULT, "require"),
  POSTGRES_SSLROOTCERT("postgres.*.sslrootcert", Type.PATH, Presence.OPTIONAL),
  POSTGRES_MAX_CONNECTIONS("postgres.*.max_connections", Type.NUMBER, Presence.DEFAULT, "8"),
  POSTGRES_CONNECT_TIMEOUT("postgres.*.connect_timeout", Type.DURATION, Presence.DEFAULT, "PT10S"),
  POSTGRES_SOCKET_TIMEOUT("postgres.*.socket_timeout", Type.DURATION, Presence.DEFAULT, "PT60S"),
  POSTGRES_HOST_FOR_CLICKHOUSE(
      "postgres.*.postgres_host_for_clickhouse", Type.ADDRESS, Presence.OPTIONAL),
  POSTGRES_CLICKHOUSE_NAMED_COLLECTION(
      "postgres.*.clickhouse_named_collection", Type.TEXT, Presence.OPTIONAL),
  POSTGRES_FILTERS("postgres.*.filters", Type.CONDITIONS, Presence.OPTIONAL),

  STATE("state", Type.TEXT, Presence.REQUIRED),

  LAKE_BUCKET("lakes.*.bucket", Type.TEXT, Presence.OPTIONAL),
  LAKE_FOLDER("lakes.*.folder", Type.PATH, Presence.OPTIONAL),
  LAKE_PREFIX("lakes.*.prefix", Type.TEXT, Presence.DEFAULT, "raw/postgres/"),
  LAKE_COMPRESSION("lakes.*.compression", Type.CHOICE, Presence.DEFAULT, "zstd"),
  LAKE_ZSTD_LEVEL("lakes.*.zstd_level", Type.NUMBER, Presence.DEFAULT, "1"),
  LAKE_ROW_GROUP_MEBIBYTES("lakes.*.row_group_mebibytes", Type.NUMBER, Presence.DEFAULT, "16"),
  LAKE_REGION("lakes.*.region", Type.TEXT, Presence.DEFAULT, "eu-west-1"),
  LAKE_ENDPOINT("lakes.*.endpoint", Type.URL, Presence.OPTIONAL),
  LAKE_PATH_STYLE("lakes.*.path_style", Type.FLAG, Presence.DEFAULT, "false"),
  LAKE_ENCRYPTION("lakes.*.encryption", Type.CHOICE, Presence.DEFAULT, "none"),
  LAKE_KMS_KEY("lakes.*.kms_key", Type.TEXT, Presence.OPTIONAL),
  LAKE_CHECKSUMS("lakes.*.checksums", Type.CHOICE, Presence.DEFAULT, "default"),
  LAKE_ACCESS_KEY_ID("lakes.*.access_key_id", Type.SECRET, Presence.OPTIONAL),
  LAKE_SECRET_ACCESS_KEY("lakes.*.secret_access_key", Type.SECRET, Presence.OPTIONAL),
  LAKE_SESSION_TOKEN("lakes.*.session_token", Type.SECRET, Presence.OPTIONAL),

  CLICKHOUSE_HOST("clickhouse.*.host", Type.TEXT, Presence.REQUIRED),
  CLICKHOUSE_PORT("clickhouse.*.port", Type.NUMBER, Presence.DEFAULT, "8123"),
  CLICKHOUSE_USER("clickhouse.*.user", Type.TEXT, Presence.REQUIRED),
  CLICKHOUSE_PASSWORD("clickhouse.*.password", Type.SECRET, Presence.OPTIONAL),
  CLICKHOUSE_TLS("clickhouse.*.tls", Type.FLAG, Presence.DEFAULT, "false"),
  CLICKHOUSE_CONNECT_TIMEOUT(
      "clickhouse.*.connect_timeout", Type.DURATION, Presence.DEFAULT, "PT10S"),
  CLICKHOUSE_SOCKET_TIMEOUT(
      "clickhouse.*.socket_timeout", Type.DURATION, Presence.DEFAULT, "PT60S"),
  CLICKHOUSE_STATEMENT_TIMEOUT(
      "clickhouse.*.statement_timeout", Type.DURATION, Presence.DEFAULT, "PT1H"),

  APPROVERS("approvers", Type.LIST, Presence.OPTIONAL),

  SLACK_WEBHOOK("slack.webhook", Type.SECRET, Presence.REQUIRED),

  LIMITS_MAX_ATTEMPTS("limits.max_attempts", Type.NUMBER, Presence.DEFAULT, "5"),
  LIMITS_TABLE_TIMEOUT("limits.table_timeout", Type.DURATION, Presence.DEFAULT, "PT6H"),
  LIMITS_RUN_TIMEOUT("limits.run_timeout", Type.DURATION, Presence.OPTIONAL),

  CONTROL_WAL_DIR("control.wal_dir", Type.PATH, Presence.DEFAULT, "control_wal"),
  CONTROL_KEEP_WAL("control.keep_wal", Type.DURATION, Presence.OPTIONAL),
  CONTROL_KEEP_RUNS("control.keep_runs", Type.DURATION, Presence.OPTIONAL),

  BUSINESS_TIME_ZONE("business_time_zone", Type.TEXT, Presence.OPTIONAL),

  ALLOW_DEMO("allow_demo", Type.FLAG, Presence.DEFAULT, "true"),
  STACK("stack", Type.CHOICE, Presence.DEFAULT, "production"),
  DEMO_FOLDER("demo_folder", Type.PATH, Presence.DEFAULT, "sling_demo");

  /** How a value is written in the file. */
  enum Type {
    /** {@code host:port}. */
    ADDRESS,
    /** One of a few words. */
    CHOICE,
    /** By table, each a list of {@code {column: …, operator: …, value: …}}. */
    CONDITIONS,
    /** ISO-8601, such as {@code PT6H}. */
    DURATION,
    /** {@code true} or {@code false}. */
    FLAG,
    /** Texts, written as {@code [one, another]}. */
    LIST,
    /** A whole number in digits. */
    NUMBER,
    /** A path of a file or folder. */
    PATH,
    /** A reference to a secret; never the secret. */
    SECRET,
    /** Any text. */
    TEXT,
    /** An http or https address without user info. */
    URL
  }

  /** Whether a setting has to be there. */
  enum Presence {
    REQUIRED,
    OPTIONAL,
    DEFAULT
  }

  private final String path;
  private final Type type;
  private final Presence presence;
  private final String defaultText;

  ConfigurationSetting(String path, Type type, Presence presence) {
    this(path, type, presence, null);
  }

  ConfigurationSetting(String path, Type type, Presence presence, String defaultText) {
    this.path = path;
    this.type = type;
    this.presence = presence;
    this.defaultText = defaultText;
  }

  /** Returns the path in dots, such as {@code postgres.*.port}. */
  String path() {
    return path;
  }

  /** Returns the last part of the path. */
  String key() {
    return path.substring(path.lastIndexOf('.') + 1);
  }

  Type type() {
    return type;
  }

  Presence presence() {
    return presence;
  }

  /** Returns the default as it would be written in the file, or null where there is none. */
  String defaultText() {
    return defaultText;
  }

  /** Returns whether the path is that of a setting or of a section that holds some. */
  static boolean isKnown(String pattern) {
    return isSetting(pattern) || isSection(pattern);
  }

  static boolean isSetting(String pattern) {
    return ofPath(pattern).isPresent();
  }

  /** Returns the setting of a path; empty when there is none, such as for a section. */
  static Optional<ConfigurationSetting> ofPath(String pattern) {
    return Stream.of(values()).filter(setting -> setting.path.equals(pattern)).findFirst();
  }

  static boolean isSection(String pattern) {
    for (ConfigurationSetting setting : values()) {
      if (setting.path.startsWith(pattern + ".")) {
        return true;
      }
    }
    return false;
  }

  /** Returns the keys that may stand in a section, in the order of the documentation. */
  static List<String> keysBelow(String section) {
    String start = section.isEmpty() ? "" : section + ".";
    List<String> keys = new ArrayList<>();
    for (ConfigurationSetting setting : values()) {
      if (!setting.path.startsWith(start)) {
        continue;
      }
      String rest = setting.path.substring(start.length());
      int dot = rest.indexOf('.');
      String key = dot < 0 ? rest : rest.substring(0, dot);
      if (!keys.contains(key)) {
        keys.add(key);
      }
    }
    return keys;
  }
}
