package dev.millrace.app;

import dev.millrace.app.ConfigurationReader.Conversion;
import dev.millrace.app.ConfigurationReader.Section;
import dev.millrace.app.ConfigurationReader.UnusableException;
import dev.millrace.app.ConfigurationReader.Value;
import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import dev.millrace.lake.Checksums;
import dev.millrace.lake.Encryption;
import dev.millrace.parquet.FileFormat;
import dev.millrace.parquet.FileFormat.Compression;
import dev.millrace.postgres.RowFilter;
import dev.millrace.postgres.SslMode;
import dev.millrace.postgres.TableName;
import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.ZoneId;
import java.time.format.DateTimeParseException;
import java.util.Collections;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * What a worker is told by its configuration file, checked and with all references resolved; {@code
 * docs/configuration.md} is the reference.
 *
 * <p>Immutable, so safe for use by several threads. No secret is in any text form.
 *
 * @param temporal the Temporal server
 * @param postgres the Postgres connections by name, at least one
 * @param state the name of the connection that holds Millrace's own schemas; a key of {@code
 *     postgres}
 * @param lakes the lakes by name; none is enough for a worker that only runs demos
 * @param clickHouse the ClickHouse connections by name; none is enough for a worker that refreshes
 *     no dimension
 * @param approvers who may approve a refresh; empty for anybody
 * @param slackWebhook the address of an incoming webhook
 * @param limits how often and how long
 * @param control where this host's records are, and how long they are kept
 * @param businessTimeZone the zone of the business's dates in the records
 * @param allowDemo whether {@code demo_mode} is allowed
 * @param stack what the servers are there for
 * @param demoFolder where {@code demo_mode} writes; a relative path is below the working directory
 */
public record Configuration(
    Temporal temporal,
    Map<String, PostgresConnection> postgres,
    String state,
    Map<String, LakeStore> lakes,
    Map<String, ClickHouseConnection> clickHouse,
    List<String> approvers,
    Optional<Secret> slackWebhook,
    Limits limits,
    Control control,
    Optional<ZoneId> businessTimeZone,
    boolean allowDemo,
    Stack stack,
    Path demoFolder) {

  /**
   * How to reach Temporal.
   *
   * @param address {@code host:port}
   * @param tls present when the connection is encrypted: with the section {@code tls} or an API key
   */
  public record Temporal(
      String address,
      String namespace,
      String taskQueue,
      Optional<Secret> apiKey,
      Optional<Tls> tls) {}

  /**
   * Encryption of the connection to Temporal; PEM texts. The certificate and its key come together.
   *
   * @param serverName the name that the server's certificate has to have, where it is not the host
   * @param ca who signed the server's certificate; absent means the authorities of the JVM
   * @param key in PKCS #8
   */
  public record Tls(
      Optional<String> serverName,
      Optional<Secret> ca,
      Optional<Secret> certificate,
      Optional<Secret> key) {}

  /**
   * A Postgres database and how to log in.
   *
   * @param sslRootCertificate an existing file, only with the two that verify
   * @param maxConnections the most that one worker opens
   * @param connectTimeout whole seconds
   * @param socketTimeout whole seconds that an answer may take
   * @param addressForClickHouse {@code host:port} as a ClickHouse server sees this database; absent
   *     means the same as for this worker. Never together with the next one
   * @param clickHouseCollection the named collection of the ClickHouse server that has address and
   *     login, so that no password is in a statement
   * @param filters which rows are read, by table; all of other tables
   */
  public record PostgresConnection(
      String host,
      int port,
      String database,
      String user,
      Optional<Secret> password,
      SslMode sslMode,
      Optional<Path> sslRootCertificate,
      int maxConnections,
      Duration connectTimeout,
      Duration socketTimeout,
      Optional<String> addressForClickHouse,
      Optional<String> clickHouseCollection,
      Map<TableName, RowFilter> filters) {

    public PostgresConnection {
      filters = Map.copyOf(filters);
    }

    /** Returns {@code host:port} as a ClickHouse server sees this database. */
    public String addressSeenByClickHouse() {
      String named = host.contains(":") ? "[" + host + "]" : host;
      return addressForClickHouse.orElse(named + ":" + port);
    }
  }

  /**
   * A ClickHouse server's HTTP port and how to log in.
   *
   * @param tls whether the connection is encrypted, with the authorities of the JVM
   * @param connectTimeout whole seconds
   * @param socketTimeout whole seconds that the server may be silent
   * @param statementTimeout whole seconds that one statement may take in all
   */
  public record ClickHouseConnection(
      String host,
      int port,
      String user,
      Optional<Secret> password,
      boolean tls,
      Duration connectTimeout,
      Duration socketTimeout,
      Duration statementTimeout) {}

  /** Where objects go. */
  public sealed interface LakeStore {
    /** Returns what each key starts with: empty, or ending in a slash. */
    String prefix();

    /** Returns how files are written for it. */
    FileFormat format();
  }

  /**
   * A bucket of S3 or of a store that speaks its protocol.
   *
   * @param endpoint absent means that of AWS in the region
   * @param kmsKey only with {@code KMS}; absent means the key that AWS manages
   * @param credentials absent means what the default chain of the AWS SDK finds
   */
  public record BucketLake(
      String bucket,
      String prefix,
      FileFormat format,
      String region,
      Optional<URI> endpoint,
      boolean pathStyle,
      Encryption encryption,
      Optional<String> kmsKey,
      Checksums checksums,
      Optional<LakeCredentials> credentials)
      implements LakeStore {}

  /** A local folder; an absolute path, or one below the working directory. */
  public record FolderLake(Path folder, String prefix, FileFormat format) implements LakeStore {}

  /** Credentials of a bucket that the configuration refers to. */
  public record LakeCredentials(
      Secret accessKeyId, Secret secretAccessKey, Optional<Secret> sessionToken) {}

  /**
   * How often and how long.
   *
   * @param maxAttempts of preparing and extracting one table
   * @param tableTimeout of one table in one run, all attempts together
   * @param runTimeout of one run from its turn on; absent for no limit
   */
  public record Limits(int maxAttempts, Duration tableTimeout, Optional<Duration> runTimeout) {}

  /**
   * The control plane on this host.
   *
   * @param walFolder where records are before they are in Postgres; it must outlive the process
   * @param keepWal how long a log is kept that is wholly shipped; absent for ever
   * @param keepRuns how long runs that have ended are kept in Postgres; absent for ever
   */
  public record Control(Path walFolder, Optional<Duration> keepWal, Optional<Duration> keepRuns) {}

  /** What the servers are there for; faults may be injected in all but the first. */
  public enum Stack {
    PRODUCTION,
    DEV,
    DEMO,
    TEST;

    /** Returns whether {@link dev.millrace.failure.Points} may be set. */
    public boolean allowsPoints() {
      return this != PRODUCTION;
    }

    String text() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  private static final int MOST_BYTES = 1 << 20;
  private static final int MOST_ZSTD_LEVEL = 22;
  private static final int MOST_ROW_GROUP_MEBIBYTES = 1024;
  private static final Set<ConfigurationSetting> OF_FOLDERS =
      EnumSet.of(
          ConfigurationSetting.LAKE_FOLDER,
          ConfigurationSetting.LAKE_PREFIX,
          ConfigurationSetting.LAKE_COMPRESSION,
          ConfigurationSetting.LAKE_ZSTD_LEVEL,
          ConfigurationSetting.LAKE_ROW_GROUP_MEBIBYTES);
  private static final Duration SECOND = Duration.ofSeconds(1);

  private static final Pattern HOST = Pattern.compile("[A-Za-z0-9._:%-]+");
  private static final Pattern ADDRESS =
      Pattern.compile("([A-Za-z0-9._-]+|\\[[0-9A-Fa-f:.]+\\]):([0-9]{1,5})");
  private static final Pattern COLLECTION = Pattern.compile("[A-Za-z_][A-Za-z0-9_]{0,127}");
  private static final Pattern REGION = Pattern.compile("[a-z0-9-]{1,64}");
  private static final Pattern BUCKET =
      Pattern.compile("[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]|arn:aws[a-z-]*:s3[a-z-]*:[^\\s]+");

  // Stands for a value that a problem was told of; reading ends with an exception then.
  private static final String UNKNOWN = "";

  /** Copies maps and list, keeping the order of the file. */
  public Configuration {
    postgres = Collections.unmodifiableMap(new LinkedHashMap<>(postgres));
    lakes = Collections.unmodifiableMap(new LinkedHashMap<>(lakes));
    clickHouse = Collections.unmodifiableMap(new LinkedHashMap<>(clickHouse));
    approvers = List.copyOf(approvers);
  }

  /**
   * Reads a configuration file.
   *
   * @param file the file; relative paths in it are relative to its folder
   * @param environment the variables that references may name, usually {@code System.getenv()}
   * @throws MillraceException with {@code BAD_CONFIGURATION} and a line for each problem, {@code
   *     file:line: setting what is wrong}
   */
  public static Configuration load(Path file, Map<String, String> environment) {
    ConfigurationProblems problems = new ConfigurationProblems(file);
    ConfigurationNode.Fields fields = new ConfigurationDocument(problems).parse(content(file));
    problems.throwIfAny();
    Path folder = file.toAbsolutePath().getParent();
    ConfigurationReader reader = new ConfigurationReader(problems, folder, environment);
    Configuration configuration = new Parts(reader).configuration(reader.root(fields));
    problems.throwIfAny();
    return configuration;
  }

  private static byte[] content(Path file) {
    try (var stream = Files.newInputStream(file)) {
      byte[] content = stream.readNBytes(MOST_BYTES + 1);
      if (content.length <= MOST_BYTES) {
        return content;
      }
      throw new MillraceException(
          ErrorCode.BAD_CONFIGURATION, file + " is longer than 1 MiB, so it is no configuration");
    } catch (NoSuchFileException exception) {
      throw new MillraceException(
          ErrorCode.BAD_CONFIGURATION,
          "there is no file " + file + "; name the configuration with --config or MILLRACE_CONFIG",
          exception);
    } catch (IOException exception) {
      throw new MillraceException(ErrorCode.BAD_CONFIGURATION, file + " can't be read", exception);
    }
  }

  /** Makes the records out of sections. Not thread-safe. */
  private record Parts(ConfigurationReader reader) {

    Configuration configuration(Section root) {
      Temporal temporal = temporal(reader.section(root, "temporal"));
      Map<String, PostgresConnection> connections = new LinkedHashMap<>();
      Section postgres = reader.section(root, "postgres");
      reader.named(postgres).forEach((name, each) -> connections.put(name, connection(each)));
      if (connections.isEmpty()) {
        reader.problem(
            new Section("postgres", "postgres", postgres.present(), postgres.line(), root.fields()),
            "must name at least one connection");
      }
      Map<String, LakeStore> lakes = new LinkedHashMap<>();
      reader
          .named(reader.section(root, "lakes"))
          .forEach((name, each) -> lakes.put(name, lake(each)));
      Map<String, ClickHouseConnection> clickHouse = clickHouse(reader.section(root, "clickhouse"));
      Stack stack =
          reader
              .read(root, ConfigurationSetting.STACK, choice(Stack.values(), Stack::text))
              .orElse(Stack.PRODUCTION);
      return new Configuration(
          temporal,
          connections,
          state(root, connections),
          lakes,
          clickHouse,
          approvers(root),
          slack(reader.section(root, "slack")),
          limits(reader.section(root, "limits")),
          control(reader.section(root, "control")),
          reader.read(root, ConfigurationSetting.BUSINESS_TIME_ZONE, Parts::zone),
          reader.read(root, ConfigurationSetting.ALLOW_DEMO, Parts::flag).orElse(false),
          stack,
          reader
              .read(root, ConfigurationSetting.DEMO_FOLDER, Parts::workingDirectoryPath)
              .orElse(Path.of(UNKNOWN)));
    }

    private Temporal temporal(Section section) {
      Optional<Secret> apiKey = secret(section, ConfigurationSetting.TEMPORAL_API_KEY);
      Section tls = reader.section(section, "tls");
      return new Temporal(
          reader
              .read(section, ConfigurationSetting.TEMPORAL_ADDRESS, Parts::address)
              .orElse(UNKNOWN),
          text(section, ConfigurationSetting.TEMPORAL_NAMESPACE).orElse(UNKNOWN),
          text(section, ConfigurationSetting.TEMPORAL_TASK_QUEUE).orElse(UNKNOWN),
          apiKey,
          tls.present() || apiKey.isPresent() ? Optional.of(tls(tls)) : Optional.empty());
    }

    private Tls tls(Section section) {
      together(
          section,
          ConfigurationSetting.TEMPORAL_TLS_CERTIFICATE,
          ConfigurationSetting.TEMPORAL_TLS_KEY);
      together(
          section,
          ConfigurationSetting.TEMPORAL_TLS_KEY,
          ConfigurationSetting.TEMPORAL_TLS_CERTIFICATE);
      return new Tls(
          text(section, ConfigurationSetting.TEMPORAL_TLS_SERVER_NAME),
          pem(section, ConfigurationSetting.TEMPORAL_TLS_CA, "CERTIFICATE"),
          pem(section, ConfigurationSetting.TEMPORAL_TLS_CERTIFICATE, "CERTIFICATE"),
          pem(section, ConfigurationSetting.TEMPORAL_TLS_KEY, "PRIVATE KEY"));
    }

    private PostgresConnection connection(Section section) {
      SslMode sslMode =
          reader
              .read(
                  section,
                  ConfigurationSetting.POSTGRES_SSLMODE,
                  choice(SslMode.values(), SslMode::text))
              .orElse(SslMode.REQUIRE);
      Optional<Path> rootCertificate =
          reader.read(section, ConfigurationSetting.POSTGRES_SSLROOTCERT, this::existingFile);
      if (rootCertificate.isPresent()
          && sslMode != SslMode.VERIFY_CA
          && sslMode != SslMode.VERIFY_FULL) {
        // The driver would ignore the certificate, and nobody would know.
        reader.problem(
            section,
            ConfigurationSetting.POSTGRES_SSLROOTCERT,
            "has no effect with sslmode " + sslMode.text() + "; use verify-ca or verify-full");
      }
      return new PostgresConnection(
          reader.read(section, ConfigurationSetting.POSTGRES_HOST, Parts::host).orElse(UNKNOWN),
          reader.read(section, ConfigurationSetting.POSTGRES_PORT, number(1, 65_535)).orElse(0),
          text(section, ConfigurationSetting.POSTGRES_DATABASE).orElse(UNKNOWN),
          text(section, ConfigurationSetting.POSTGRES_USER).orElse(UNKNOWN),
          secret(section, ConfigurationSetting.POSTGRES_PASSWORD),
          sslMode,
          rootCertificate,
          reader
              .read(section, ConfigurationSetting.POSTGRES_MAX_CONNECTIONS, number(1, 1_000))
              .orElse(0),
          reader
              .read(
                  section,
                  ConfigurationSetting.POSTGRES_CONNECT_TIMEOUT,
                  duration(SECOND, Duration.ofMinutes(10)))
              .orElse(SECOND),
          reader
              .read(
                  section,
                  ConfigurationSetting.POSTGRES_SOCKET_TIMEOUT,
                  duration(SECOND, Duration.ofDays(1)))
              .orElse(SECOND),
          addressForClickHouse(section),
          reader.read(
              section,
              ConfigurationSetting.POSTGRES_CLICKHOUSE_NAMED_COLLECTION,
              Parts::collection),
          new RowFilterReader(reader).read(section));
    }

    private Optional<String> addressForClickHouse(Section section) {
      if (section.has(ConfigurationSetting.POSTGRES_HOST_FOR_CLICKHOUSE)
          && section.has(ConfigurationSetting.POSTGRES_CLICKHOUSE_NAMED_COLLECTION)) {
        reader.problem(
            section,
            ConfigurationSetting.POSTGRES_HOST_FOR_CLICKHOUSE,
            "has no effect with clickhouse_named_collection, which has an address of its own; keep"
                + " one of the two");
      }
      return reader.read(
          section, ConfigurationSetting.POSTGRES_HOST_FOR_CLICKHOUSE, Parts::address);
    }

    private Map<String, ClickHouseConnection> clickHouse(Section parent) {
      Map<String, ClickHouseConnection> connections = new LinkedHashMap<>();
      Map<String, String> names = new HashMap<>();
      reader
          .named(parent)
          .forEach(
              (name, section) -> {
                ClickHouseConnection connection = clickHouseConnection(section);
                connections.put(name, connection);
                String address =
                    connection.host().toLowerCase(Locale.ROOT) + ":" + connection.port();
                String other = names.putIfAbsent(address, name);
                // A refresh is kept from a second one by the name of its connection.
                if (other != null && !connection.host().isEmpty()) {
                  reader.problem(
                      section,
                      "is the same server as clickhouse.%s, %s; give one server one name"
                          .formatted(other, address));
                }
              });
      return connections;
    }

    private ClickHouseConnection clickHouseConnection(Section section) {
      return new ClickHouseConnection(
          reader.read(section, ConfigurationSetting.CLICKHOUSE_HOST, Parts::host).orElse(UNKNOWN),
          reader.read(section, ConfigurationSetting.CLICKHOUSE_PORT, number(1, 65_535)).orElse(0),
          text(section, ConfigurationSetting.CLICKHOUSE_USER).orElse(UNKNOWN),
          secret(section, ConfigurationSetting.CLICKHOUSE_PASSWORD),
          reader.read(section, ConfigurationSetting.CLICKHOUSE_TLS, Parts::flag).orElse(false),
          reader
              .read(
                  section,
                  ConfigurationSetting.CLICKHOUSE_CONNECT_TIMEOUT,
                  duration(SECOND, Duration.ofMinutes(10)))
              .orElse(SECOND),
          reader
              .read(
                  section,
                  ConfigurationSetting.CLICKHOUSE_SOCKET_TIMEOUT,
                  duration(SECOND, Duration.ofDays(1)))
              .orElse(SECOND),
          reader
              .read(
                  section,
                  ConfigurationSetting.CLICKHOUSE_STATEMENT_TIMEOUT,
                  duration(SECOND, Duration.ofDays(7)))
              .orElse(SECOND));
    }

    private List<String> approvers(Section root) {
      List<String> approvers = reader.readAll(root, ConfigurationSetting.APPROVERS, Parts::text);
      if (approvers.stream().distinct().count() < approvers.size()) {
        reader.problem(root, ConfigurationSetting.APPROVERS, "names somebody twice");
      }
      return approvers;
    }

    private String state(Section root, Map<String, PostgresConnection> connections) {
      String state = text(root, ConfigurationSetting.STATE).orElse(UNKNOWN);
      if (!state.isEmpty() && !connections.containsKey(state)) {
        reader.problem(
            root,
            ConfigurationSetting.STATE,
            "must be the name of a connection in postgres, not "
                + state
                + (connections.isEmpty()
                    ? ""
                    : "; there is " + String.join(", ", connections.keySet())));
      }
      return state;
    }

    private LakeStore lake(Section section) {
      String prefix =
          reader.read(section, ConfigurationSetting.LAKE_PREFIX, Parts::prefix).orElse(UNKNOWN);
      boolean bucket = section.has(ConfigurationSetting.LAKE_BUCKET);
      if (bucket == section.has(ConfigurationSetting.LAKE_FOLDER)) {
        reader.problem(section, "must have either bucket or folder" + (bucket ? ", not both" : ""));
      }
      FileFormat format = format(section);
      return bucket ? bucketLake(section, prefix, format) : folderLake(section, prefix, format);
    }

    private FileFormat format(Section section) {
      Compression compression =
          reader
              .read(
                  section,
                  ConfigurationSetting.LAKE_COMPRESSION,
                  choice(Compression.values(), Parts::text))
              .orElse(Compression.ZSTD);
      if (section.has(ConfigurationSetting.LAKE_ZSTD_LEVEL) && compression != Compression.ZSTD) {
        reader.problem(
            section, ConfigurationSetting.LAKE_ZSTD_LEVEL, "is only allowed with compression zstd");
      }
      int level =
          reader
              .read(section, ConfigurationSetting.LAKE_ZSTD_LEVEL, number(1, MOST_ZSTD_LEVEL))
              .orElse(1);
      int mebibytes =
          reader
              .read(
                  section,
                  ConfigurationSetting.LAKE_ROW_GROUP_MEBIBYTES,
                  number(1, MOST_ROW_GROUP_MEBIBYTES))
              .orElse(1);
      return new FileFormat(compression, level, (long) mebibytes << 20);
    }

    private FolderLake folderLake(Section section, String prefix, FileFormat format) {
      for (ConfigurationSetting setting : ConfigurationSetting.values()) {
        if (setting.path().startsWith("lakes.")
            && !OF_FOLDERS.contains(setting)
            && section.has(ConfigurationSetting.LAKE_FOLDER)
            && section.has(setting)) {
          reader.problem(section, setting, "is a setting of lakes with a bucket; this is a folder");
        }
      }
      return new FolderLake(
          reader
              .read(section, ConfigurationSetting.LAKE_FOLDER, reader::resolvePath)
              .orElse(Path.of(UNKNOWN)),
          prefix,
          format);
    }

    private BucketLake bucketLake(Section section, String prefix, FileFormat format) {
      Encryption encryption =
          reader
              .read(
                  section,
                  ConfigurationSetting.LAKE_ENCRYPTION,
                  choice(Encryption.values(), Parts::text))
              .orElse(Encryption.NONE);
      Optional<String> kmsKey = text(section, ConfigurationSetting.LAKE_KMS_KEY);
      if (kmsKey.isPresent() && encryption != Encryption.KMS) {
        reader.problem(
            section, ConfigurationSetting.LAKE_KMS_KEY, "is only allowed with encryption aws:kms");
      }
      return new BucketLake(
          reader.read(section, ConfigurationSetting.LAKE_BUCKET, Parts::bucket).orElse(UNKNOWN),
          prefix,
          format,
          reader.read(section, ConfigurationSetting.LAKE_REGION, Parts::region).orElse(UNKNOWN),
          reader.read(section, ConfigurationSetting.LAKE_ENDPOINT, Parts::url),
          reader.read(section, ConfigurationSetting.LAKE_PATH_STYLE, Parts::flag).orElse(false),
          encryption,
          kmsKey,
          reader
              .read(
                  section,
                  ConfigurationSetting.LAKE_CHECKSUMS,
                  choice(Checksums.values(), Parts::text))
              .orElse(Checksums.DEFAULT),
          credentials(section));
    }

    private Optional<LakeCredentials> credentials(Section section) {
      together(
          section,
          ConfigurationSetting.LAKE_ACCESS_KEY_ID,
          ConfigurationSetting.LAKE_SECRET_ACCESS_KEY);
      together(
          section,
          ConfigurationSetting.LAKE_SECRET_ACCESS_KEY,
          ConfigurationSetting.LAKE_ACCESS_KEY_ID);
      together(
          section,
          ConfigurationSetting.LAKE_SESSION_TOKEN,
          ConfigurationSetting.LAKE_ACCESS_KEY_ID);
      Optional<Secret> accessKeyId = secret(section, ConfigurationSetting.LAKE_ACCESS_KEY_ID);
      Optional<Secret> secretAccessKey =
          secret(section, ConfigurationSetting.LAKE_SECRET_ACCESS_KEY);
      Optional<Secret> sessionToken = secret(section, ConfigurationSetting.LAKE_SESSION_TOKEN);
      if (accessKeyId.isEmpty() || secretAccessKey.isEmpty()) {
        return Optional.empty();
      }
      return Optional.of(
          new LakeCredentials(accessKeyId.get(), secretAccessKey.get(), sessionToken));
    }

    private Optional<Secret> slack(Section section) {
      if (!section.present()) {
        return Optional.empty();
      }
      return reader.read(
          section,
          ConfigurationSetting.SLACK_WEBHOOK,
          value -> {
            url(value);
            return new Secret(value.text());
          });
    }

    private Limits limits(Section section) {
      return new Limits(
          reader
              .read(section, ConfigurationSetting.LIMITS_MAX_ATTEMPTS, number(1, 1_000))
              .orElse(0),
          reader
              .read(
                  section,
                  ConfigurationSetting.LIMITS_TABLE_TIMEOUT,
                  duration(SECOND, Duration.ofDays(365)))
              .orElse(SECOND),
          reader.read(
              section,
              ConfigurationSetting.LIMITS_RUN_TIMEOUT,
              duration(SECOND, Duration.ofDays(365))));
    }

    private Control control(Section section) {
      Conversion<Duration> kept = duration(Duration.ofHours(1), Duration.ofDays(36_500));
      return new Control(
          reader
              .read(section, ConfigurationSetting.CONTROL_WAL_DIR, reader::resolvePath)
              .orElse(Path.of(UNKNOWN)),
          reader.read(section, ConfigurationSetting.CONTROL_KEEP_WAL, kept),
          reader.read(section, ConfigurationSetting.CONTROL_KEEP_RUNS, kept));
    }

    private void together(
        Section section, ConfigurationSetting setting, ConfigurationSetting needed) {
      if (section.has(setting) && !section.has(needed)) {
        reader.problem(section, setting, "needs " + needed.key() + " beside it");
      }
    }

    private Optional<String> text(Section section, ConfigurationSetting setting) {
      return reader.read(section, setting, Parts::text);
    }

    private Optional<Secret> secret(Section section, ConfigurationSetting setting) {
      return reader.read(section, setting, value -> new Secret(value.text()));
    }

    private Optional<Secret> pem(Section section, ConfigurationSetting setting, String kind) {
      return reader.read(
          section,
          setting,
          value -> {
            if (!value.text().contains("-----BEGIN " + kind + "-----")) {
              throw new UnusableException(
                  "must lead to PEM text with BEGIN %s%s, which %s does not"
                      .formatted(
                          kind,
                          kind.equals("PRIVATE KEY") ? " (PKCS #8, not encrypted)" : "",
                          value.shown()));
            }
            return new Secret(value.text());
          });
    }

    private Path existingFile(Value value) throws UnusableException {
      Path path = reader.resolvePath(value);
      if (!Files.isReadable(path) || Files.isDirectory(path)) {
        throw new UnusableException("must be a file that can be read, not " + value.shown());
      }
      return path;
    }

    private static String text(Value value) throws UnusableException {
      if (value.text().isEmpty()) {
        throw new UnusableException("must not be empty");
      }
      return value.text();
    }

    private static String host(Value value) throws UnusableException {
      return matching(value, HOST, "a host name or address without port");
    }

    private static String region(Value value) throws UnusableException {
      return matching(value, REGION, "a region such as eu-west-1");
    }

    private static String bucket(Value value) throws UnusableException {
      return matching(
          value, BUCKET, "the name of a bucket (3 to 63 of a-z 0-9 . -) or an ARN, no address");
    }

    private static String collection(Value value) throws UnusableException {
      return matching(value, COLLECTION, "a name of letters, digits and _, without quotes");
    }

    private static String matching(Value value, Pattern pattern, String what)
        throws UnusableException {
      if (!pattern.matcher(value.text()).matches()) {
        throw new UnusableException("must be " + what + ", not " + value.shown());
      }
      return value.text();
    }

    private static String address(Value value) throws UnusableException {
      Matcher address = ADDRESS.matcher(value.text());
      if (address.matches()) {
        int port = Integer.parseInt(address.group(2));
        if (port >= 1 && port <= 65_535) {
          return value.text();
        }
      }
      throw new UnusableException("must be host:port without a scheme, not " + value.shown());
    }

    private static String prefix(Value value) throws UnusableException {
      String prefix = value.text();
      if (prefix.isEmpty()) {
        return prefix;
      }
      if (prefix.startsWith("/") || !prefix.endsWith("/")) {
        throw new UnusableException(
            "must be empty, or end with / and not begin with it, unlike " + value.shown());
      }
      String parts = "/" + prefix;
      if (parts.contains("//") || parts.contains("/./") || parts.contains("/../")) {
        throw new UnusableException("must not have empty parts, . or .. as " + value.shown());
      }
      return prefix;
    }

    private static Path workingDirectoryPath(Value value) throws UnusableException {
      try {
        return Path.of(text(value)).normalize();
      } catch (InvalidPathException exception) {
        throw new UnusableException("must be a path, not " + value.shown());
      }
    }

    private static ZoneId zone(Value value) throws UnusableException {
      try {
        return ZoneId.of(value.text());
      } catch (DateTimeException exception) {
        throw new UnusableException(
            "must be a time zone such as Asia/Kolkata, not " + value.shown());
      }
    }

    private static boolean flag(Value value) throws UnusableException {
      return switch (value.text()) {
        case "true" -> true;
        case "false" -> false;
        default -> throw new UnusableException("must be true or false, not " + value.shown());
      };
    }

    private static String text(Encryption encryption) {
      return switch (encryption) {
        case NONE -> "none";
        case AES256 -> "AES256";
        case KMS -> "aws:kms";
      };
    }

    private static String text(Compression compression) {
      return compression.name().toLowerCase(Locale.ROOT);
    }

    private static String text(Checksums checksums) {
      return switch (checksums) {
        case DEFAULT -> "default";
        case WHEN_REQUIRED -> "when-required";
      };
    }

    private static <T> Conversion<T> choice(T[] choices, Function<T, String> text) {
      return value -> {
        for (T choice : choices) {
          if (text.apply(choice).equals(value.text())) {
            return choice;
          }
        }
        throw new UnusableException(
            "must be %s, not %s"
                .formatted(
                    ConfigurationReader.anyOf(Stream.of(choices).map(text).toList()),
                    value.shown()));
      };
    }

    private static Conversion<Integer> number(int least, int most) {
      return value -> {
        // Digits only: YAML has more ways to write a number than people who read it.
        if (value.text().matches("0|[1-9][0-9]{0,8}")) {
          int number = Integer.parseInt(value.text());
          if (number >= least && number <= most) {
            return number;
          }
        }
        throw new UnusableException(
            "must be a whole number from %d to %d, not %s".formatted(least, most, value.shown()));
      };
    }

    private static Conversion<Duration> duration(Duration least, Duration most) {
      return value -> {
        try {
          Duration duration = Duration.parse(value.text());
          if (duration.compareTo(least) >= 0
              && duration.compareTo(most) <= 0
              && duration.toNanosPart() == 0) {
            return duration;
          }
        } catch (DateTimeParseException exception) {
          throw new UnusableException(
              "must be an ISO-8601 duration such as PT30S or PT6H, not " + value.shown());
        }
        throw new UnusableException(
            "must be whole seconds from %s to %s, not %s".formatted(least, most, value.shown()));
      };
    }

    /** Does not show the value: an address may have a password in it. */
    private static URI url(Value value) throws UnusableException {
      URI url;
      try {
        url = new URI(value.text());
      } catch (URISyntaxException exception) {
        throw new UnusableException("must be an http or https address");
      }
      if (url.getRawUserInfo() != null
          || (url.getRawAuthority() != null && url.getRawAuthority().contains("@"))) {
        throw new UnusableException("must not have user info (user:password@) in it");
      }
      boolean web = "http".equals(url.getScheme()) || "https".equals(url.getScheme());
      if (!web || url.getHost() == null || url.getRawFragment() != null) {
        throw new UnusableException("must be an http or https address with a host");
      }
      return url;
    }
  }
}
