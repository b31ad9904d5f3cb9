package dev.millrace.postgres;

import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import dev.millrace.failure.ServerAnswer;
import java.sql.SQLException;
import java.util.Optional;
import org.postgresql.util.PSQLException;
import org.postgresql.util.ServerErrorMessage;

/**
 * Turns the driver's exceptions into failures by their <a
 * href="https://www.postgresql.org/docs/current/errcodes-appendix.html">SQLSTATE</a>.
 */
final class PostgresFailure {
  /** The function of Postgres that refuses a query which row-level security would filter. */
  private static final String ROW_SECURITY_CHECK = "check_enable_rls";

  private PostgresFailure() {}

  static MillraceException of(PostgresSettings settings, SQLException failure) {
    SQLException root = root(failure);
    ErrorCode code = code(root);
    String state = root.getSQLState() == null ? "" : " (SQLSTATE " + root.getSQLState() + ")";
    return new MillraceException(
        code,
        "Postgres connection '%s' (%s:%d/%s): %s%s%s"
            .formatted(
                settings.name(),
                settings.host(),
                settings.port(),
                settings.database(),
                message(root),
                state,
                wayOut(code, settings)),
        failure,
        root.getSQLState() == null
            ? null
            : new ServerAnswer(ServerAnswer.Kind.SQLSTATE, root.getSQLState(), null));
  }

  /** The pool wraps the reason why it could not connect. */
  private static SQLException root(SQLException failure) {
    SQLException root = failure;
    while (root.getSQLState() == null && root.getCause() instanceof SQLException cause) {
      root = cause;
    }
    for (Throwable cause = root; cause != null; cause = cause.getCause()) {
      if (cause instanceof PSQLException found) {
        return found;
      }
    }
    return root;
  }

  /** The message without DETAIL, which may quote a row. */
  private static String message(SQLException failure) {
    return server(failure)
        .map(
            server ->
                server.getHint() == null
                    ? server.getMessage()
                    : server.getMessage() + "; " + server.getHint())
        .orElseGet(failure::getMessage);
  }

  private static Optional<ServerErrorMessage> server(SQLException failure) {
    return failure instanceof PSQLException known
        ? Optional.ofNullable(known.getServerErrorMessage())
        : Optional.empty();
  }

  private static ErrorCode code(SQLException failure) {
    String state = failure.getSQLState();
    if (state == null) {
      return ErrorCode.POSTGRES_UNAVAILABLE;
    }
    return switch (state) {
      case "42501" ->
          server(failure)
                  .map(ServerErrorMessage::getRoutine)
                  .equals(Optional.of(ROW_SECURITY_CHECK))
              ? ErrorCode.ROWS_HIDDEN
              : ErrorCode.NO_PRIVILEGE;
      case "42P01", "3F000" -> ErrorCode.TABLE_MISSING;
      case "42703" -> ErrorCode.COLUMN_MISSING;
      // text that has no place in UTF-8, from a database with another encoding
      case "22021", "22P05" -> ErrorCode.VALUE_OUT_OF_RANGE;
      case "3D000" -> ErrorCode.POSTGRES_REFUSED;
      // serialization failure (also a standby's cancel of a long read), deadlock, lock timeout,
      // idle
      // transaction ended
      case "40001", "40P01", "55P03", "25P03" -> ErrorCode.POSTGRES_UNAVAILABLE;
      default -> codeOfClass(state);
    };
  }

  private static ErrorCode codeOfClass(String state) {
    if (state.startsWith("08") || state.startsWith("57P") || state.startsWith("53")) {
      return ErrorCode.POSTGRES_UNAVAILABLE;
    }
    return state.startsWith("28") ? ErrorCode.POSTGRES_REFUSED : ErrorCode.POSTGRES_ERROR;
  }

  private static String wayOut(ErrorCode code, PostgresSettings settings) {
    if (code == ErrorCode.ROWS_HIDDEN) {
      return "; a policy would hide rows from user '%s': give it BYPASSRLS, or read as the owner"
          .formatted(settings.user());
    }
    if (code == ErrorCode.POSTGRES_REFUSED) {
      return "; check user '%s', its password and the database's name".formatted(settings.user());
    }
    return "";
  }
}
