package dev.millrace.postgres;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/**
 * What Postgres expects of a query, as <a
 * href="https://www.postgresql.org/docs/current/sql-explain.html">EXPLAIN</a> tells it.
 *
 * @param rows how many it gives; a guess
 * @param cost of all of them, in the planner's own units
 */
public record QueryPlan(long rows, double cost) {
  private static final JsonMapper JSON = new JsonMapper();

  /** Asks for the plan of a SELECT without parameters. */
  public static QueryPlan of(Connection connection, String select) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery("EXPLAIN (FORMAT JSON) " + select)) {
      row.next();
      JsonNode plan = JSON.readTree(row.getString(1)).at("/0/Plan");
      return new QueryPlan(plan.path("Plan Rows").asLong(), plan.path("Total Cost").asDouble());
    } catch (JsonProcessingException exception) {
      throw new IllegalStateException("EXPLAIN gave no JSON", exception);
    }
  }
}
