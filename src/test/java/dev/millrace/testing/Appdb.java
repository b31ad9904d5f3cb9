package dev.millrace.testing;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;

/** Database {@code appdb} of the shared stack, as its superuser. Thread-safe. */
public final class Appdb {
  private Appdb() {}

  /** Runs statements. */
  public static void execute(String sql) {
    try (Connection connection = TestStack.postgres().connect();
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    } catch (SQLException exception) {
      throw new IllegalStateException(sql, exception);
    }
  }

  /** Returns the first column of each row. */
  public static List<String> values(String sql) {
    try (Connection connection = TestStack.postgres().connect();
        Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(sql)) {
      List<String> values = new ArrayList<>();
      while (row.next()) {
        values.add(row.getString(1));
      }
      return values;
    } catch (SQLException exception) {
      throw new IllegalStateException(sql, exception);
    }
  }

  /** Returns the first column of the only row. */
  public static String value(String sql) {
    List<String> values = values(sql);
    if (values.size() != 1) {
      throw new IllegalStateException("%d rows: %s".formatted(values.size(), sql));
    }
    return values.get(0);
  }
}
