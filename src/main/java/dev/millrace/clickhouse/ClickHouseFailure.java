package dev.millrace.clickhouse;

import com.clickhouse.client.api.ServerException;
import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import dev.millrace.failure.ServerAnswer;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Turns what the server answers into failures, by the numbers of <a
 * href="https://github.com/ClickHouse/ClickHouse/blob/master/src/Common/ErrorCodes.cpp">its
 * errors</a>.
 */
final class ClickHouseFailure {
  static final int NOT_IMPLEMENTED = 48;
  static final int TABLE_ALREADY_EXISTS = 57;
  static final int UNKNOWN_TABLE = 60;
  static final int UNKNOWN_DATABASE = 81;
  static final int TIMEOUT_EXCEEDED = 159;
  static final int SUPPORT_IS_DISABLED = 344;
  static final int TABLE_SIZE_EXCEEDS_MAX_DROP_SIZE_LIMIT = 359;
  static final int ACCESS_DENIED = 497;
  static final int HAVE_DEPENDENT_OBJECTS = 630;

  /** What a busy, starting, stopping or partly unreachable server says. */
  private static final Set<Integer> PASSING =
      Set.of(
          202, // too many simultaneous queries
          203, // no free connection
          209, // socket timeout
          210, // network error
          216, // a query with the same id is running
          225, // no Keeper
          236, // aborted
          241, // memory limit
          242, // table is read-only
          243, // not enough space
          252, // too many parts
          279, // all connection tries failed
          285, // too few live replicas
          286, // unsatisfied quorum
          289, // replica is not in quorum
          319, // unknown status of insert
          341, // unfinished
          394, // query was cancelled
          439, // can't schedule a task
          473, // deadlock avoided
          517, // can't assign an ALTER
          614, // connection to Postgres failed
          733, // table is being restarted
          745, // server overloaded
          999); // Keeper

  private static final Set<Integer> REFUSING =
      Set.of(
          164, // read-only
          192, // unknown user
          193, // wrong password
          194, // password required
          195, // address not allowed
          291, // database access denied
          ACCESS_DENIED,
          511, // unknown role
          516); // authentication failed

  /**
   * What libpqxx, or Postgres itself, says inside an error without a number of its own when
   * Postgres goes away, or cancels a read for its own sake.
   */
  private static final Pattern POSTGRES_GONE =
      Pattern.compile(
          "pqxx::(broken_connection|in_doubt)"
              + "|terminating connection due to"
              + "|the database system is (starting up|shutting down|in recovery mode)"
              + "|server closed the connection unexpectedly"
              + "|canceling statement due to conflict with recovery");

  private static final Pattern TEXT =
      Pattern.compile(
          "(?s)^Code: \\d+\\. (?:DB::)?(?:Exception: )?(.*?)(?: \\(queryId= ?.*\\))?\\s*$");
  private static final Pattern VERSION = Pattern.compile(" \\(version [^)]*\\)");
  private static final Pattern GRANT =
      Pattern.compile("necessary to have the grant (.+?)\\.?(?: \\(ACCESS_DENIED\\)|$)");

  private ClickHouseFailure() {}

  /** Turns an exception of the client into a failure. */
  static MillraceException of(ClickHouseSettings settings, Throwable failure) {
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      if (cause instanceof MillraceException known) {
        return known;
      }
      if (cause instanceof ServerException answer && answer.getCode() > 0) {
        return of(
            settings,
            answer.getCode(),
            answer.getMessage(),
            answer.getTransportProtocolCode(),
            failure);
      }
    }
    return new MillraceException(
        ErrorCode.CLICKHOUSE_UNAVAILABLE,
        "%s can't be reached: %s".formatted(place(settings), deepest(failure)),
        failure);
  }

  /**
   * Turns the server's error number and text into a failure.
   *
   * @param status the HTTP status; null where the number is from the query log
   * @param cause for the log, or null
   */
  static MillraceException of(
      ClickHouseSettings settings, int number, String text, Integer status, Throwable cause) {
    ErrorCode code = code(number, text);
    return new MillraceException(
        code,
        "%s: %s (code %d)%s"
            .formatted(place(settings), message(text), number, wayOut(code, settings, text)),
        cause,
        new ServerAnswer(ServerAnswer.Kind.CLICKHOUSE, Integer.toString(number), status));
  }

  /** Returns the number that the server answered with; 0 when it did not answer. */
  static int number(MillraceException failure) {
    return failure
        .answer()
        .filter(answer -> answer.kind() == ServerAnswer.Kind.CLICKHOUSE)
        .map(answer -> Integer.parseInt(answer.code()))
        .orElse(0);
  }

  static String place(ClickHouseSettings settings) {
    return "ClickHouse connection '%s' (%s:%d)"
        .formatted(settings.name(), settings.host(), settings.port());
  }

  static ErrorCode code(int number, String text) {
    if (number == TIMEOUT_EXCEEDED) {
      return ErrorCode.TIMEOUT;
    }
    if (number == UNKNOWN_TABLE || number == UNKNOWN_DATABASE) {
      return ErrorCode.TARGET_MISSING;
    }
    if (REFUSING.contains(number)) {
      return ErrorCode.CLICKHOUSE_REFUSED;
    }
    if (PASSING.contains(number) || POSTGRES_GONE.matcher(text).find()) {
      return ErrorCode.CLICKHOUSE_UNAVAILABLE;
    }
    return ErrorCode.CLICKHOUSE_ERROR;
  }

  private static String message(String text) {
    Matcher matcher = TEXT.matcher(text);
    String message = matcher.matches() ? matcher.group(1) : text;
    return VERSION.matcher(message).replaceAll("").strip();
  }

  private static String wayOut(ErrorCode code, ClickHouseSettings settings, String text) {
    if (code != ErrorCode.CLICKHOUSE_REFUSED) {
      return "";
    }
    Matcher grant = GRANT.matcher(message(text));
    return grant.find()
        ? "; run GRANT %s TO %s"
            .formatted(grant.group(1), ClickHouseIdentifiers.quote(settings.user()))
        : "; check user '%s', its password and its rights".formatted(settings.user());
  }

  private static String deepest(Throwable failure) {
    Throwable root = failure;
    while (root.getCause() != null) {
      root = root.getCause();
    }
    return root.getMessage() == null
        ? root.getClass().getSimpleName()
        : root.getClass().getSimpleName() + ": " + root.getMessage();
  }
}
