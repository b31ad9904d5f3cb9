package dev.millrace.control;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import dev.millrace.failure.Redactor;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.ds.PGSimpleDataSource;

/** How a DSN is read. */
class DsnTest {

  @Test
  void aUriIsReadAsLibpqReadsIt() {
    PGSimpleDataSource source =
        Dsn.read(
            " postgresql://us%65r:p%40ss%2Fw+rd%3F@db.example.org:6543/my%20db?sslmode=require&application_name=fleet&connect_timeout=3&options=-c%20role%3Dx&keepalives=1 ");
    assertThat(source.getServerNames()).containsExactly("db.example.org");
    assertThat(source.getPortNumbers()).containsExactly(6543);
    assertThat(source.getDatabaseName()).isEqualTo("my db");
    assertThat(source.getUser()).isEqualTo("user");
    assertThat(source.getPassword()).isEqualTo("p@ss/w+rd?");
    assertThat(source.getSslMode()).isEqualTo("require");
    assertThat(source.getApplicationName()).isEqualTo("fleet");
    assertThat(source.getConnectTimeout()).isEqualTo(3);
    assertThat(source.getLoginTimeout()).isEqualTo(3);
    assertThat(source.getOptions()).isEqualTo("-c role=x");
  }

  @Test
  void whatIsLeftOutIsFilledIn() {
    PGSimpleDataSource source = Dsn.read("postgres://");
    assertThat(source.getServerNames()).containsExactly("localhost");
    assertThat(source.getPortNumbers()).containsExactly(5432);
    assertThat(source.getUser()).isEqualTo(System.getProperty("user.name"));
    assertThat(source.getDatabaseName()).isEqualTo(System.getProperty("user.name"));
    assertThat(source.getPassword()).isNull();
    assertThat(source.getConnectTimeout()).isEqualTo(10);
    assertThat(source.getPrepareThreshold()).isZero();
    assertThat(source.getApplicationName()).isEqualTo("millrace");
    assertThat(Dsn.read("postgresql://alice@h").getDatabaseName()).isEqualTo("alice");
  }

  @ParameterizedTest
  @ValueSource(strings = {"0", "-1"})
  void aTimeoutThatWouldHaveNoEndIsTheUsualOne(String timeout) {
    assertThat(Dsn.read("postgresql://h/d?connect_timeout=" + timeout).getConnectTimeout())
        .isEqualTo(10);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "postgresql://a,b/d | a,b | 5432,5432",
        "postgresql://a:1,b:2/d | a,b | 1,2",
        "postgresql://a,a:2/d | a,a | 5432,2",
        "postgresql://[::1]:7/d | ::1 | 7",
        "postgresql://[2001:db8::1]/d | 2001:db8::1 | 5432",
        "postgresql:///d?host=a,b&port=3 | a,b | 3,3",
        "postgresql:///d | localhost | 5432",
        "postgresql://:6/d | localhost | 6",
      })
  void hostsAndPortsArePaired(String dsn, String hosts, String ports) {
    PGSimpleDataSource source = Dsn.read(dsn);
    assertThat(String.join(",", source.getServerNames()).replaceAll("[\\[\\]]", ""))
        .isEqualTo(hosts);
    assertThat(Arrays.toString(source.getPortNumbers()).replaceAll("[\\[\\] ]", ""))
        .isEqualTo(ports);
    assertThat(source.getDatabaseName()).isEqualTo("d");
  }

  @Test
  void userPasswordAndDatabaseMayBeParameters() {
    PGSimpleDataSource source =
        Dsn.read("postgresql://h/x?user=u&password=a%26b%3Dcd&dbname=d&ssl=true");
    assertThat(source.getUser()).isEqualTo("u");
    assertThat(source.getPassword()).isEqualTo("a&b=cd");
    assertThat(source.getDatabaseName()).isEqualTo("d");
    assertThat(source.getSslMode()).isEqualTo("require");
  }

  @Test
  void safetyThatIsAskedForIsAskedOfTheDriver() {
    PGSimpleDataSource source =
        Dsn.read(
            "postgresql://h/d?sslrootcert=system&channel_binding=require&gssencmode=disable&target_session_attrs=read-write&require_auth=scram-sha-256");
    assertThat(source.getSslMode()).isEqualTo("verify-full");
    assertThat(source.getSslfactory()).isEqualTo("org.postgresql.ssl.DefaultJavaSSLFactory");
    assertThat(source.getChannelBinding()).isEqualTo("require");
    assertThat(source.getGssEncMode()).isEqualTo("disable");
    assertThat(source.getTargetServerType()).isEqualTo("primary");
    assertThat(source.getRequireAuth()).isEqualTo("scram-sha-256");
  }

  @Test
  void aUrlOfTheDriverIsTakenWithItsParameters() {
    PGSimpleDataSource source =
        Dsn.read(
            "jdbc:postgresql://h:7/d?user=u&password=se%23cret&sslmode=require&prepareThreshold=5");
    assertThat(source.getServerNames()).containsExactly("h");
    assertThat(source.getPortNumbers()).containsExactly(7);
    assertThat(source.getUser()).isEqualTo("u");
    assertThat(source.getPassword()).isEqualTo("se#cret");
    assertThat(source.getSslMode()).isEqualTo("require");
    assertThat(source.getConnectTimeout()).isEqualTo(10);
    assertThat(source.getPrepareThreshold()).as("a pooler's need").isZero();
    assertThat(Dsn.read("jdbc:postgresql://h/d?connectTimeout=3&socketTimeout=9"))
        .satisfies(
            given -> {
              assertThat(given.getConnectTimeout()).isEqualTo(3);
              assertThat(given.getSocketTimeout()).isEqualTo(9);
            });
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "jdbc:postgresql://h:7/d",
        "jdbc:postgresql://h/d",
        "jdbc:postgresql://[::1]:7/d",
        "jdbc:postgresql://a:1,b:2/d",
        "jdbc:postgresql:d",
      })
  void allFormsOfAUrlOfTheDriverAreTaken(String url) {
    assertThat(Dsn.read(url + "?user=u").getDatabaseName()).isEqualTo("d");
  }

  @Test
  void passwordsAreHiddenEverywhereFromThenOn() {
    Dsn.read("postgresql://u:hush%21hush@h/d");
    Dsn.read("jdbc:postgresql://h/d?user=u&password=shh%21shh");
    assertThat(Redactor.redact("a hush!hush b hush%21hush c shh!shh d shh%21shh"))
        .isEqualTo("a *** b *** c *** d ***");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", " ", "\n"})
  void anEmptyDsnIsAnError(String dsn) {
    assertThatThrownBy(() -> DsnDatabase.of(dsn))
        .isInstanceOfSatisfying(
            MillraceException.class,
            failure -> assertThat(failure.code()).isEqualTo(ErrorCode.BAD_CONFIGURATION))
        .hasMessageContaining("is empty");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "host=h dbname=d password=tiger | does not begin with",
        "mysql://u:tiger@h/d | does not begin with",
        "tiger | does not begin with",
        "postgresql://u:tig/er@h/d | '@' too many",
        "postgresql://u:12/tiger@h/d | '@' too many",
        "postgresql://u:tig@er@h/d | '@' too many",
        "postgresql://u:tiger%@h/d | '%'",
        "postgresql://u:tiger%zz@h/d | '%'",
        "postgresql://u:tiger%00@h/d | '%'",
        "postgresql://u:tiger%ff@h/d | UTF-8",
        "postgresql://u:tiger@h:0/d | 1 to 65535",
        "postgresql://u:tiger@h:x/d | port is not a number",
        "postgresql://u:tiger@a,b:1,c:2/d?port=1,2 | another number of ports",
        "postgresql://u:tiger@%2Fvar%2Frun/d | Unix socket",
        "postgresql://u:tiger@h/d?sslmode=sure | sslmode that is not one of disable",
        "postgresql://u:tiger@h/d?sslmod=require | not known here: sslmod",
        "postgresql://u:tiger@h/d?sslcrl=x | not known here: sslcrl",
        "postgresql://u:tiger@h/d?target_session_attrs=standby | not one of any",
        "postgresql://u:tiger@h/d?connect_timeout=soon | connect_timeout is not a number",
        "postgresql://u:tiger@h/d?tiger | without '='",
        "jdbc:postgresql://u:tiger@h/d | '@' before its parameters",
        "jdbc:postgresql://h:tiger/d | before its parameters",
        "jdbc:postgresql://h:99999/d | JDBC driver can read",
        "jdbc:mysql://u:tiger@h/d | does not begin with",
      })
  void aDsnThatCannotBeReadIsToldWithoutQuotingIt(String dsn, String problem) {
    assertThatThrownBy(() -> DsnDatabase.of(dsn))
        .isInstanceOfSatisfying(
            MillraceException.class,
            failure -> assertThat(failure.code()).isEqualTo(ErrorCode.BAD_CONFIGURATION))
        .hasMessageContaining(problem)
        .hasMessageNotContainingAny("tiger", "12/", "er@");
  }

  @Test
  void theTextOfADatabaseHasNoUserAndNoPassword() {
    try (DsnDatabase database = DsnDatabase.of("postgresql://u:tiger@h,i:7/d")) {
      assertThat(database).hasToString("h:5432,i:7/d");
    }
  }
}
