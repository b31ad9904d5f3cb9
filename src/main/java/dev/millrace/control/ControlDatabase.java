package dev.millrace.control;

import java.sql.Connection;
import java.sql.SQLException;

/** Where the schema {@code control} is. Implementations are thread-safe. */
public interface ControlDatabase {

  /** Work on an open connection, which must not be kept. */
  @FunctionalInterface
  interface Work<T> {
    /** Does the work in a transaction that the caller ends. */
    T run(Connection connection) throws SQLException;
  }

  /**
   * Runs work in one READ COMMITTED transaction with {@code TimeZone} UTC; rolled back on any
   * exception.
   *
   * @return what the work returns
   * @throws dev.millrace.failure.MillraceException with {@code POSTGRES_UNAVAILABLE} and the like
   */
  <T> T transact(Work<T> work);
}
