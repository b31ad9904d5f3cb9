package dev.millrace.replication;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.testing.TestPostgres;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.Statement;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Rows that commit after the run that passed their key, and what stands in the way of them. */
class LateRowsIT {
  @TempDir private static Path folder;

  private static DirectRuns runs;

  @BeforeAll
  static void start() {
    runs = new DirectRuns(TestPostgres.createDatabase(), folder);
    runs.execute("CREATE SCHEMA late");
  }

  @AfterAll
  static void stop() {
    runs.close();
  }

  private static DirectRuns.Asked table(String name) {
    runs.execute(
        """
        CREATE TABLE late.%1$s (id int PRIMARY KEY, note text, updated_at timestamptz NOT NULL);
        CREATE INDEX ON late.%1$s (updated_at)"""
            .formatted(name));
    return DirectRuns.Asked.of(name, "late." + name, "updated_at");
  }

  private static void insert(Statement statement, String table, int id) throws Exception {
    statement.execute("INSERT INTO late.%s VALUES (%d, 'late', now())".formatted(table, id));
  }

  /** Case 1 (airbyte#9668, dlt#2269). */
  @Test
  void aRowThatCommitsAfterTheRunThatPassedItsKeyComesOnce() throws Exception {
    DirectRuns.Asked parcel = table("parcel");
    runs.execute("INSERT INTO late.parcel SELECT i, '', now() FROM generate_series(1, 6) AS i");
    try (Connection session = runs.session();
        Statement statement = session.createStatement()) {
      session.setAutoCommit(false);
      insert(statement, "parcel", 7);
      runs.execute("INSERT INTO late.parcel VALUES (8, 'later', clock_timestamp())");
      assertThat(runs.run(parcel).result().rows()).isEqualTo(7);
      session.commit();
    }
    assertThat(runs.run(parcel).result().rows()).isEqualTo(1);
    assertThat(runs.run(parcel).result().rows()).isZero();
    assertThat(runs.values("late.parcel", "id")).containsExactly("1", "2", "3", "4", "5", "6", "7", "8");
  }

  @Test
  void rowsOfSavepointsAndExceptionBlocksComeOnce() throws Exception {
    DirectRuns.Asked sub = table("sub");
    try (Connection session = runs.session();
        Statement statement = session.createStatement()) {
      session.setAutoCommit(false);
      insert(statement, "sub", 1);
      statement.execute("SAVEPOINT one");
      insert(statement, "sub", 2);
      statement.execute(
          "DO $$ BEGIN INSERT INTO late.sub VALUES (3, '', now()); EXCEPTION WHEN others THEN NULL; END $$");
      runs.execute("INSERT INTO late.sub VALUES (4, '', clock_timestamp())");
      assertThat(runs.run(sub).result().rows()).isEqualTo(1);
      assertThat(runs.run(sub).result().rows()).isZero();
      session.commit();
    }
    assertThat(runs.run(sub).result().rows()).isEqualTo(3);
    assertThat(runs.run(sub).result().rows()).isZero();
    assertThat(runs.values("late.sub", "id")).containsExactly("1", "2", "3", "4");
  }
}
