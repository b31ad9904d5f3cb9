package dev.millrace.control;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import dev.millrace.testing.Await;
import dev.millrace.testing.Logs;
import dev.millrace.testing.TestPostgres;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.Executor;
import java.util.stream.IntStream;
import org.assertj.core.api.AbstractThrowableAssert;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The schema that a fleet shares, made in a real Postgres while others work. */
class ControlSchemaIT {
  private static final Executor OWN_THREAD = task -> new Thread(task).start();

  /** What the rule bounds by 5 s, on a machine that is busy. */
  private static final Duration SOON = Duration.ofSeconds(15);

  /** The catalogue of a plane that feather-control-plane 0.1.0 has made. */
  private static final String FACTS =
      """
      table budget_usage: run_id text NOT NULL, extractor text NOT NULL, budget_name text NOT NULL, limit_val bigint, used bigint, remaining bigint, hit boolean, ran_at timestamp with time zone
      table event: extractor text NOT NULL, run_id text NOT NULL, seq bigint NOT NULL, ran_at timestamp with time zone NOT NULL, entity text, unit text, business_date date, status text NOT NULL, http_status integer, rows bigint, source_attempts integer, sink_attempts integer, pull_ms integer, load_ms integer, error_detail text, extra jsonb
      table lease: extractor text NOT NULL, run_id text NOT NULL, lease_expires_at timestamp with time zone NOT NULL
      table run: run_id text NOT NULL, extractor text NOT NULL, mode text, host text, pid integer, started_at timestamp with time zone NOT NULL, finished_at timestamp with time zone, status text NOT NULL, stop_reason text, n_ok integer, n_err integer, n_skipped integer, reconciled_by text, wal_path text, extra jsonb
      constraint budget_usage_pkey PRIMARY KEY (run_id, extractor, budget_name)
      constraint event_pkey PRIMARY KEY (extractor, run_id, seq)
      constraint lease_pkey PRIMARY KEY (extractor)
      constraint run_pkey PRIMARY KEY (run_id)
      CREATE INDEX event_run ON control.event USING btree (run_id)
      CREATE INDEX run_extractor_unfinished ON control.run USING btree (extractor) WHERE (finished_at IS NULL)
      CREATE UNIQUE INDEX budget_usage_pkey ON control.budget_usage USING btree (run_id, extractor, budget_name)
      CREATE UNIQUE INDEX event_pkey ON control.event USING btree (extractor, run_id, seq)
      CREATE UNIQUE INDEX lease_pkey ON control.lease USING btree (extractor)
      CREATE UNIQUE INDEX run_pkey ON control.run USING btree (run_id)
      CREATE TRIGGER event_dbt_ready_notify AFTER INSERT ON control.event FOR EACH ROW WHEN (((new.extractor = 'zakya'::text) AND (new.entity = 'transform_ready'::text) AND (new.status = 'ok'::text))) EXECUTE FUNCTION control.notify_dbt_ready()
      CREATE TRIGGER run_dbt_ready_notify AFTER INSERT OR UPDATE ON control.run FOR EACH ROW WHEN (((new.status = 'ok'::text) AND (new.finished_at IS NOT NULL) AND (new.extractor <> 'dbt'::text))) EXECUTE FUNCTION control.notify_dbt_run_finished()
      CREATE OR REPLACE FUNCTION control.notify_dbt_ready() RETURNS trigger LANGUAGE plpgsql AS $function$ BEGIN PERFORM pg_notify('dbt_ready', json_build_object( 'extractor', NEW.extractor, 'run_id', NEW.run_id, 'business_date', NEW.business_date)::text); RETURN NULL; END $function$
      CREATE OR REPLACE FUNCTION control.notify_dbt_run_finished() RETURNS trigger LANGUAGE plpgsql AS $function$ BEGIN IF TG_OP = 'UPDATE' AND OLD.status = 'ok' AND OLD.finished_at IS NOT NULL THEN RETURN NULL; END IF; PERFORM pg_notify('dbt_run_finished', json_build_object( 'kind', 'run', 'extractor', NEW.extractor, 'run_id', NEW.run_id, 'finished_at', NEW.finished_at)::text); RETURN NULL; END $function$
      """;

  static final String FACTS_QUERY =
      """
      SELECT string_agg(rtrim(fact), E'\\n' ORDER BY part, fact) || E'\\n' FROM (
        SELECT 1 AS part,
               format('table %s: %s', relname, string_agg(format('%s %s%s%s', attname,
                 format_type(atttypid, atttypmod), CASE WHEN attnotnull THEN ' NOT NULL' END,
                 ' DEFAULT ' || pg_get_expr(adbin, adrelid)), ', ' ORDER BY attnum)) AS fact
        FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid
        LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
        WHERE relnamespace = 'control'::regnamespace AND relkind <> 'i'
          AND attnum > 0 AND NOT attisdropped
        GROUP BY relname
        UNION ALL
        SELECT 2, format('constraint %s %s', conname, pg_get_constraintdef(oid))
        FROM pg_constraint WHERE connamespace = 'control'::regnamespace AND contype <> 'n'
        UNION ALL
        SELECT 3, pg_get_indexdef(oid)
        FROM pg_class WHERE relnamespace = 'control'::regnamespace AND relkind = 'i'
        UNION ALL
        SELECT 4, pg_get_triggerdef(pg_trigger.oid)
        FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid
        WHERE relnamespace = 'control'::regnamespace
        UNION ALL
        SELECT 5, regexp_replace(pg_get_functiondef(oid), '\\s+', ' ', 'g')
        FROM pg_proc WHERE pronamespace = 'control'::regnamespace
      ) AS facts
      """;

  private static final String DROP_TRIGGERS =
      """
      DROP TRIGGER event_dbt_ready_notify ON control.event;
      DROP TRIGGER run_dbt_ready_notify ON control.run;
      DROP FUNCTION control.notify_dbt_ready(), control.notify_dbt_run_finished()
      """;

  /** Any DDL, whoever tries it, fails with this. */
  static final String FORBID_DDL =
      """
      CREATE FUNCTION public.refuse() RETURNS event_trigger LANGUAGE plpgsql
        AS $$ BEGIN RAISE EXCEPTION 'somebody ran %', tg_tag; END $$;
      CREATE EVENT TRIGGER refuse ON ddl_command_start EXECUTE FUNCTION public.refuse()
      """;

  private String database;

  @BeforeEach
  void create() {
    database = TestPostgres.createDatabase();
  }

  private void ensure() {
    ensure("postgres");
  }

  private void ensure(String role) {
    try (DsnDatabase control = DsnDatabase.of(TestPostgres.uri(database, role))) {
      ControlSchema.ensure(control);
    }
  }

  private void execute(String sql) {
    TestPostgres.execute(database, sql);
  }

  private String facts() {
    return TestPostgres.query(database, FACTS_QUERY);
  }

  private Connection session() throws SQLException {
    Connection connection = TestPostgres.server().getDatabase("postgres", database).getConnection();
    connection.setAutoCommit(false);
    return connection;
  }

  private static void execute(Connection session, String sql) throws SQLException {
    try (Statement statement = session.createStatement()) {
      statement.execute(sql);
    }
  }

  private static void assertSoon(ThrowingCallable call) throws Throwable {
    long start = System.nanoTime();
    call.call();
    assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(SOON);
  }

  private static AbstractThrowableAssert<?, ?> assertFails(ErrorCode code, ThrowingCallable call) {
    return assertThatThrownBy(call)
        .isInstanceOfSatisfying(
            MillraceException.class,
            failure -> assertThat(failure.code()).as(failure.getMessage()).isEqualTo(code));
  }

  private String role(String grants) {
    String role = "role_of_" + database;
    execute("CREATE ROLE %s LOGIN".formatted(role));
    execute(grants.replace("$role", role));
    return role;
  }

  @Test
  void theSchemaIsTheOneThatTheFleetShares() {
    ensure();
    assertThat(facts()).isEqualTo(FACTS);
  }

  @Test
  void aCompleteSchemaIsLeftAsItIs() {
    ensure();
    execute(FORBID_DDL);
    ensure();
    assertThat(facts()).isEqualTo(FACTS);
  }

  @Test
  void aCompleteSchemaIsSeenWhileAllItsTablesAreLocked() throws Throwable {
    ensure();
    try (Connection other = session();
        Logs logs = Logs.listen()) {
      execute(
          other,
          "LOCK TABLE control.event, control.run, control.lease, control.budget_usage IN ACCESS EXCLUSIVE MODE");
      execute(other, "SELECT pg_advisory_xact_lock(" + ControlSchema.ADVISORY_LOCK + ")");
      assertSoon(this::ensure);
      assertThat(logs.messages(Level.WARN)).isEmpty();
    }
  }

  @Test
  void eightThatStartAtOnceOnAnEmptyDatabaseAllGoOn() {
    int rounds =
        Math.max(2, (int) (20 * Double.parseDouble(System.getProperty("millrace.scale", "0.1"))));
    for (int round = 0; round < rounds; round++) {
      CyclicBarrier start = new CyclicBarrier(8);
      List<CompletableFuture<Void>> starters =
          IntStream.range(0, 8)
              .mapToObj(i -> CompletableFuture.runAsync(() -> startAt(start), OWN_THREAD))
              .toList();
      starters.forEach(CompletableFuture::join);
      assertThat(facts()).isEqualTo(FACTS);
      assertThat(TestPostgres.query(database, "SELECT to_regclass('millrace.queue')")).isNotNull();
      execute("DROP SCHEMA control CASCADE; DROP SCHEMA millrace CASCADE");
    }
  }

  private void startAt(CyclicBarrier start) {
    try (DsnDatabase control = DsnDatabase.of(TestPostgres.uri(database))) {
      control.transact(connection -> null);
      start.await();
      ControlSchema.ensure(control);
      ControlSchema.ensure(control, RunQueue.class, "queue.sql", "millrace.queue");
    } catch (Exception exception) {
      throw new IllegalStateException(exception);
    }
  }

  @Test
  void aPlaneWithOnlyTheLeaseGetsTheRest() {
    ensure();
    execute("DROP TABLE control.event, control.run, control.budget_usage");
    execute("DROP FUNCTION control.notify_dbt_ready(), control.notify_dbt_run_finished()");
    execute("INSERT INTO control.lease VALUES ('x', 'run-1', now())");
    ensure();
    assertThat(facts()).isEqualTo(FACTS);
    assertThat(TestPostgres.query(database, "SELECT run_id FROM control.lease")).isEqualTo("run-1");
  }

  @ParameterizedTest
  @ValueSource(strings = {"event", "run"})
  void aTableOfThePastGetsItsColumnAndItsTrigger(String table) {
    ensure();
    execute("ALTER TABLE control.%s DROP COLUMN extra".formatted(table));
    execute(DROP_TRIGGERS);
    ensure();
    assertThat(facts()).isEqualTo(FACTS);
  }

  @Test
  void aColumnThatCannotBeHadInTimeIsAnErrorThatMayPass() throws Throwable {
    ensure();
    execute("ALTER TABLE control.run DROP COLUMN extra");
    try (Connection other = session()) {
      execute(other, "LOCK TABLE control.run IN ACCESS SHARE MODE");
      assertSoon(
          () ->
              assertFails(ErrorCode.POSTGRES_UNAVAILABLE, this::ensure)
                  .hasMessageContaining("column extra of table control.run")
                  .hasMessageContaining("5 s"));
    }
    ensure();
    assertThat(facts()).isEqualTo(FACTS);
  }

  @Test
  void aTriggerWhoseTableIsBusyIsToldAndMadeByALaterStart() throws Throwable {
    ensure();
    execute(DROP_TRIGGERS);
    try (Connection other = session();
        Logs logs = Logs.listen()) {
      execute(other, "LOCK TABLE control.event IN ROW EXCLUSIVE MODE");
      assertSoon(this::ensure);
      assertThat(logs.messages(Level.WARN))
          .singleElement()
          .asString()
          .contains("event_dbt_ready_notify", "55P03");
      assertThat(facts()).contains("TRIGGER run_dbt_ready").doesNotContain("TRIGGER event_dbt");
    }
    ensure();
    assertThat(facts()).isEqualTo(FACTS);
  }

  @Test
  void allWaitsOfOneStartTogetherAreBounded() throws Throwable {
    ensure();
    execute(DROP_TRIGGERS);
    try (Connection other = session();
        Logs logs = Logs.listen()) {
      execute(other, "LOCK TABLE control.event, control.run IN ROW EXCLUSIVE MODE");
      long start = System.nanoTime();
      ensure();
      // Two waits of 5 s would be 10.
      assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(9));
      assertThat(logs.messages(Level.WARN)).hasSize(2);
    }
  }

  @Test
  void aHeldAdvisoryLockStopsNoStartForEver() throws Throwable {
    try (Connection other = session();
        Logs logs = Logs.listen()) {
      execute(other, "SELECT pg_advisory_lock(3204198401)");
      assertSoon(
          () ->
              assertFails(ErrorCode.POSTGRES_UNAVAILABLE, this::ensure)
                  .hasMessageContaining("3204198401"));
      execute(other, "SELECT pg_advisory_unlock(3204198401)");
      other.commit();
      ensure();
      execute(DROP_TRIGGERS);
      execute(other, "SELECT pg_advisory_lock(3204198401)");
      assertSoon(this::ensure);
      assertThat(logs.messages(Level.WARN)).hasSize(2);
    }
  }

  @Test
  void aScriptOfOurOwnWaitsNoLonger() throws Throwable {
    try (Connection other = session()) {
      execute(other, "SELECT pg_advisory_xact_lock(3204198401)");
      assertSoon(
          () ->
              assertFails(ErrorCode.POSTGRES_UNAVAILABLE, this::ensureQueue)
                  .hasMessageContaining("millrace.queue"));
    }
    ensureQueue();
    execute(FORBID_DDL);
    try (Connection other = session()) {
      execute(other, "LOCK TABLE millrace.queue IN ACCESS EXCLUSIVE MODE");
      assertSoon(this::ensureQueue);
    }
  }

  private void ensureQueue() {
    try (DsnDatabase control = DsnDatabase.of(TestPostgres.uri(database))) {
      ControlSchema.ensure(control, RunQueue.class, "queue.sql", "millrace.queue");
    }
  }

  @ParameterizedTest
  @CsvSource({"event, run", "run, event"})
  void aShipperThatTakesBothTablesAndAStartThatAddsTriggersDoNotDeadlock(
      String first, String second) throws Exception {
    ensure();
    execute(DROP_TRIGGERS);
    execute(
        "INSERT INTO control.run (run_id, extractor, started_at, status) VALUES ('r', 'x', now(), 'running')");
    try (Connection shipper = session()) {
      execute(shipper, touch(first));
      CompletableFuture<Void> start = CompletableFuture.runAsync(this::ensure, OWN_THREAD);
      Await.until("the start waits for the table", () -> somebodyWaitsFor(first));
      execute(shipper, touch(second));
      shipper.commit();
      start.join();
    }
    ensure();
    assertThat(facts()).isEqualTo(FACTS);
  }

  private static String touch(String table) {
    return table.equals("run")
        ? "UPDATE control.run SET n_ok = 1 WHERE run_id = 'r'"
        : "INSERT INTO control.event (extractor, run_id, seq, ran_at, status) VALUES ('x', 'r', 0, now(), 'ok')";
  }

  private boolean somebodyWaitsFor(String table) {
    return TestPostgres.query(
            database,
            "SELECT 1 FROM pg_locks WHERE NOT granted AND relation = 'control.%s'::regclass"
                .formatted(table))
        != null;
  }

  @Test
  void aRoleThatCannotSeeTheTablesIsToldWhatToGrantAndRunsNoDdl() {
    ensure();
    String role = role("SELECT '$role'");
    execute(FORBID_DDL);
    assertFails(ErrorCode.NO_PRIVILEGE, () -> ensure(role))
        .hasMessageContaining("role " + role)
        .hasMessageContaining("control.run")
        .hasMessageContaining("GRANT USAGE ON SCHEMA control TO " + role)
        .hasMessageContaining("GRANT SELECT, INSERT, UPDATE ON control.budget_usage TO " + role)
        .hasMessageContaining("GRANT SELECT, INSERT ON control.event TO " + role);
  }

  @Test
  void theGrantsThatAreNamedAreEnough() throws Exception {
    ensure();
    String role = role("GRANT USAGE ON SCHEMA control TO $role");
    String message = null;
    try {
      ensure(role);
    } catch (MillraceException refused) {
      message = refused.getMessage();
    }
    assertThat(message).contains("GRANT").doesNotContain("USAGE");
    execute(message.substring(message.indexOf("GRANT")));
    execute(FORBID_DDL);
    ensure(role);
    assertThat(recordsARun(role)).isEmpty();
  }

  /** Returns what the role is refused. */
  private List<WalLine.Refused> recordsARun(String role) {
    try (DsnDatabase control = DsnDatabase.of(TestPostgres.uri(database, role))) {
      return control.transact(
          connection -> Projection.apply(connection, ProjectionIT.oneRun("r", 3)));
    }
  }

  @Test
  void oneMissingRightIsNamedAlone() {
    ensure();
    String role =
        role(
            """
            GRANT USAGE ON SCHEMA control TO $role;
            GRANT SELECT, INSERT, UPDATE ON ALL TABLES IN SCHEMA control TO $role;
            REVOKE UPDATE ON control.lease FROM $role
            """);
    assertFails(ErrorCode.NO_PRIVILEGE, () -> ensure(role))
        .hasMessageContaining("table control.lease (UPDATE)")
        .hasMessageEndingWith("GRANT UPDATE ON control.lease TO " + role);
  }

  @Test
  void whoMayNotMakeTheSchemaIsToldSo() {
    String role = role("SELECT '$role'");
    assertFails(ErrorCode.NO_PRIVILEGE, () -> ensure(role))
        .hasMessageEndingWith("GRANT CREATE ON DATABASE %s TO %s".formatted(database, role));
    execute("GRANT CREATE ON DATABASE %s TO %s".formatted(database, role));
    ensure(role);
    assertThat(facts()).isEqualTo(FACTS);
  }

  @Test
  void whoMayNotAddAColumnIsToldWhoMay() {
    ensure();
    execute("ALTER TABLE control.event DROP COLUMN extra");
    String role = writer();
    assertFails(ErrorCode.NO_PRIVILEGE, () -> ensure(role))
        .hasMessageContaining("column extra to table control.event")
        .hasMessageContaining("owner postgres");
  }

  @Test
  void whoMayNotMakeATriggerGoesOnWithoutIt() {
    ensure();
    execute(DROP_TRIGGERS);
    String role = writer();
    try (Logs logs = Logs.listen()) {
      ensure(role);
      assertThat(logs.messages(Level.WARN)).hasSize(2).allMatch(line -> line.contains("42501"));
    }
  }

  private String writer() {
    return role(
        """
        GRANT USAGE ON SCHEMA control TO $role;
        GRANT SELECT, INSERT, UPDATE ON ALL TABLES IN SCHEMA control TO $role
        """);
  }

  @Test
  void nobodySeesHalfOfANewSchema() throws Exception {
    List<String> seen = new ArrayList<>();
    try (Connection watcher = session()) {
      watcher.setAutoCommit(true);
      CompletableFuture<Void> start = CompletableFuture.runAsync(this::ensure, OWN_THREAD);
      while (!start.isDone()) {
        seen.add(tables(watcher));
      }
      start.join();
      seen.add(tables(watcher));
    }
    assertThat(seen).containsOnly("0", "4").endsWith("4");
  }

  private static String tables(Connection session) throws SQLException {
    try (Statement statement = session.createStatement();
        ResultSet row =
            statement.executeQuery(
                "SELECT count(*) FROM pg_class JOIN pg_namespace n ON n.oid = relnamespace WHERE nspname = 'control' AND relkind = 'r'")) {
      row.next();
      return row.getString(1);
    }
  }
}
