package dev.millrace.replication;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.control.ControlSchema;
import dev.millrace.control.RunQueue;
import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import dev.millrace.postgres.Postgres;
import dev.millrace.run.StateDatabase;
import dev.millrace.testing.TestPostgres;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import org.junit.jupiter.api.Test;

/** The control database of a worker: its pool of the state. */
class StateDatabaseIT {

  private static String query(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(sql)) {
      row.next();
      return row.getString(1);
    }
  }

  @Test
  void allSchemasOfTheStateAreMadeThroughThePoolAndLeftAloneWhenTheyAreThere() {
    String name = TestPostgres.createDatabase();
    try (Postgres state = TestPostgres.connect(name)) {
      StateDatabase database = new StateDatabase(state);
      for (int start = 0; start < 2; start++) {
        ControlSchema.ensure(database);
        ControlSchema.ensure(database, RunQueue.class, "queue.sql", "millrace.queue");
        ReplicationState.ensure(database);
        TestPostgres.execute(
            name,
            """
            CREATE OR REPLACE FUNCTION public.refuse() RETURNS event_trigger LANGUAGE plpgsql
              AS $$ BEGIN RAISE EXCEPTION 'somebody ran %', tg_tag; END $$;
            DROP EVENT TRIGGER IF EXISTS refuse;
            CREATE EVENT TRIGGER refuse ON ddl_command_start
              WHEN TAG IN ('CREATE SCHEMA', 'CREATE TABLE', 'CREATE INDEX', 'CREATE TRIGGER',
                           'ALTER TABLE', 'CREATE VIEW')
              EXECUTE FUNCTION public.refuse()
            """);
      }
    }
    assertThat(
            TestPostgres.query(
                name,
                """
                SELECT string_agg(nspname || '.' || relname, ' ' ORDER BY nspname, relname)
                FROM pg_class JOIN pg_namespace n ON n.oid = relnamespace
                WHERE relkind IN ('r', 'v') AND nspname IN ('control', 'millrace')
                """))
        .isEqualTo(
            "control.budget_usage control.event control.lease control.run millrace.folder millrace.intent millrace.manifest millrace.queue millrace.reading millrace.reservation millrace.table_result millrace.table_state millrace.watermark");
  }

  @Test
  void aTransactionIsInUtcAndItsFailuresHaveTheCodesOfThePool() {
    try (Postgres state = TestPostgres.connect(TestPostgres.createDatabase())) {
      StateDatabase database = new StateDatabase(state);
      String zone = database.transact(connection -> query(connection, "SHOW TimeZone"));
      assertThat(zone).isEqualTo("UTC");
      assertThatThrownBy(
              () -> database.transact(connection -> query(connection, "SELECT 1 FROM a.b")))
          .isInstanceOfSatisfying(
              MillraceException.class,
              failure -> assertThat(failure.code()).isEqualTo(ErrorCode.TABLE_MISSING));
    }
  }
}
