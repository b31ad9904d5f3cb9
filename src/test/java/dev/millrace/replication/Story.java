package dev.millrace.replication;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeSet;

/**
 * One table, some sessions that write it in random steps, and runs in between.
 *
 * <p>Each row version has a number of its own. Nothing else writes while a run reads, so what a run
 * could see can be asked for right after it. Not thread-safe.
 */
final class Story implements AutoCloseable {
  private static final int TRANSACTIONS = 20;
  private static final int RUNS = 5;

  private final DirectRuns runs;
  private final String table;
  private final SplittableRandom random;
  private final boolean times;
  private final DirectRuns.Asked asked;
  private final List<Session> sessions = new ArrayList<>();
  private final List<Prepared> prepared = new ArrayList<>();
  private final Set<Long> expected = new TreeSet<>();
  private final Set<Long> plain = new HashSet<>();
  private final Connection observer;

  private int transactions;
  private int ran;
  private String plainLow;

  /** What was done. */
  record Counts(long transactions, long runs, long versions, long lostByPlainWindow) {
    static final Counts NONE = new Counts(0, 0, 0, 0);

    Counts plus(Counts other) {
      return new Counts(
          transactions + other.transactions,
          runs + other.runs,
          versions + other.versions,
          lostByPlainWindow + other.lostByPlainWindow);
    }
  }

  private record Prepared(String name, Session session) {}

  Story(DirectRuns runs, String name, SplittableRandom random) {
    this.runs = runs;
    this.table = "exact." + name;
    this.random = random;
    this.times = random.nextBoolean();
    this.observer = runs.session();
    DirectRuns.Asked all = DirectRuns.Asked.of(name, table, "k");
    this.asked =
        (random.nextInt(3) == 0 ? all.lookingBack("PT0.3S", 20) : all)
            .cutAt(random.nextInt(4) == 0 ? 3 : 10_000_000);
    runs.execute(
        """
        CREATE SEQUENCE %1$s_k;
        CREATE TABLE %1$s (id int, k %2$s NOT NULL,
          version bigint NOT NULL DEFAULT nextval('exact.version')) %3$s;
        CREATE INDEX ON %1$s (k)"""
            .formatted(
                table,
                times ? "timestamptz" : "bigint",
                random.nextInt(4) == 0 ? "PARTITION BY HASH (id)" : ""));
    if (partitioned()) {
      for (int part = 0; part < 2; part++) {
        runs.execute(
            "CREATE TABLE %1$s_%2$d PARTITION OF %1$s FOR VALUES WITH (MODULUS 2, REMAINDER %2$d)"
                .formatted(table, part));
      }
    }
    int count = 2 + random.nextInt(3);
    for (int number = 0; number < count; number++) {
      sessions.add(new Session(number));
    }
  }

  private boolean partitioned() {
    return "p".equals(value("SELECT relkind FROM pg_class WHERE oid = '%s'::regclass"));
  }

  private String value(String sql) {
    try (Statement statement = observer.createStatement();
        ResultSet row = statement.executeQuery(sql.formatted(table))) {
      return row.next() ? row.getString(1) : null;
    } catch (SQLException exception) {
      throw new IllegalStateException(sql, exception);
    }
  }

  /** Plays it to its end. */
  Counts play() throws SQLException {
    while (transactions < TRANSACTIONS || ran < RUNS) {
      int choice = random.nextInt(100);
      if (choice < 12) {
        run();
      } else if (choice < 14) {
        runs.execute("VACUUM (FREEZE) " + table);
      } else if (choice < 18 && !prepared.isEmpty()) {
        finishPrepared();
      } else {
        sessions.get(random.nextInt(sessions.size())).step();
      }
    }
    for (Session session : sessions) {
      session.end();
    }
    run();
    while (!prepared.isEmpty()) {
      finishPrepared();
    }
    run();
    run();
    long lost = expected.stream().filter(version -> !plain.contains(version)).count();
    return new Counts(transactions, ran, expected.size(), lost);
  }

  private void finishPrepared() throws SQLException {
    Prepared chosen = prepared.remove(random.nextInt(prepared.size()));
    String verb = random.nextInt(4) == 0 ? "ROLLBACK" : "COMMIT";
    try (Statement statement = observer.createStatement()) {
      statement.execute("%s PREPARED '%s'".formatted(verb, chosen.name()));
    }
    chosen.session().unlocked();
  }

  private void run() throws SQLException {
    DirectRuns.Run run = runs.run(asked);
    ran++;
    for (Extracted extracted : run.extracted()) {
      Window window = extracted.window();
      if (!extracted.warnings().isEmpty()) {
        throw new IllegalStateException("not exact: " + extracted.warnings());
      }
      String below = window.low() == null ? null : lookBack().below(window.low());
      expected.addAll(versions(below, window.high()));
    }
    plainRun(run);
  }

  private LookBack lookBack() {
    return new LookBack(
        times ? KeyKind.TIMESTAMPTZ : KeyKind.NUMBER,
        Duration.parse(asked.lookBack()),
        asked.keys());
  }

  private void plainRun(DirectRuns.Run run) throws SQLException {
    String high = run.result().high();
    if (high == null || high.equals(plainLow)) {
      return;
    }
    plain.addAll(versions(plainLow, high));
    plainLow = high;
  }

  private List<Long> versions(String low, String high) throws SQLException {
    KeyKind kind = times ? KeyKind.TIMESTAMPTZ : KeyKind.NUMBER;
    String condition = Bounds.condition(new Window(kind, low, high), "k", ZoneOffset.UTC, false);
    List<Long> versions = new ArrayList<>();
    try (Statement statement = observer.createStatement();
        ResultSet row =
            statement.executeQuery("SELECT version FROM %s WHERE %s".formatted(table, condition))) {
      while (row.next()) {
        versions.add(row.getLong(1));
      }
    }
    return versions;
  }

  /** Returns the versions in the lake, in their order. */
  List<Long> arrived() {
    List<Long> arrived =
        new ArrayList<>(runs.values(table, "version").stream().map(Long::valueOf).toList());
    Collections.sort(arrived);
    return arrived;
  }

  /** Returns the versions that have to be there, in their order. */
  Set<Long> expected() {
    return expected;
  }

  @Override
  public String toString() {
    return "%s, key %s, look-back %s and %d, windows of %d rows"
        .formatted(
            table, times ? "times" : "numbers", asked.lookBack(), asked.keys(), asked.windowRows());
  }

  @Override
  public void close() throws SQLException {
    for (Session session : sessions) {
      session.connection.close();
    }
    for (Prepared left : prepared) {
      try (Statement statement = observer.createStatement()) {
        statement.execute("ROLLBACK PREPARED '%s'".formatted(left.name()));
      }
    }
    observer.close();
    runs.execute("DROP TABLE %1$s; DROP SEQUENCE %1$s_k".formatted(table));
  }

  /** A session that writes rows of its own, so that it never waits for a lock. */
  private final class Session {
    private final int number;
    private final Connection connection = runs.session();
    private final List<Integer> free = new ArrayList<>();
    private final List<Integer> touched = new ArrayList<>();
    private boolean open;
    private int savepoints;
    private int inserted;

    private Session(int number) {
      this.number = number;
    }

    private void step() throws SQLException {
      switch (random.nextInt(10)) {
        case 0, 1, 2 -> insert();
        case 3, 4 -> update();
        case 5 -> block();
        case 6 -> savepoint();
        case 7 -> begin();
        default -> end();
      }
    }

    private void execute(String sql) throws SQLException {
      try (Statement statement = connection.createStatement()) {
        statement.execute(sql);
      }
      if (!open) {
        transactions++;
      }
    }

    private void begin() throws SQLException {
      if (!open) {
        open = true;
        execute("BEGIN");
        if (random.nextInt(3) == 0) {
          // An id from the start, long before the first row.
          execute("SELECT pg_current_xact_id()");
        }
      }
    }

    private String key() {
      if (!times) {
        return switch (random.nextInt(4)) {
          case 0 -> "nextval('%1$s_k') - %2$d".formatted(table, random.nextInt(30));
          case 1 -> "nextval('%1$s_k') + %2$d".formatted(table, random.nextInt(3));
          default -> "nextval('%s_k')".formatted(table);
        };
      }
      return switch (random.nextInt(5)) {
        case 0 -> "clock_timestamp() - interval '%d ms'".formatted(random.nextInt(1500));
        case 1 -> "clock_timestamp() + interval '%d ms'".formatted(random.nextInt(300));
        case 2 -> "now()";
        default -> "clock_timestamp()";
      };
    }

    private int newRow() {
      int id = number * 1_000_000 + ++inserted;
      touched.add(id);
      return id;
    }

    private String insertion() {
      return "INSERT INTO %s (id, k) VALUES (%d, %s)".formatted(table, newRow(), key());
    }

    private void insert() throws SQLException {
      execute(insertion());
    }

    private void update() throws SQLException {
      if (free.isEmpty()) {
        return;
      }
      int id = free.get(random.nextInt(free.size()));
      touched.add(id);
      if (random.nextInt(6) == 0) {
        execute("DELETE FROM %s WHERE id = %d".formatted(table, id));
        return;
      }
      String key = random.nextInt(3) == 0 ? "" : ", k = " + key();
      execute(
          "UPDATE %s SET version = nextval('exact.version')%s WHERE id = %d"
              .formatted(table, key, id));
    }

    private void block() throws SQLException {
      execute(
          "DO $$ BEGIN %s; %s EXCEPTION WHEN raise_exception THEN NULL; END $$"
              .formatted(insertion(), random.nextInt(3) == 0 ? "RAISE EXCEPTION 'no';" : ""));
    }

    private void savepoint() throws SQLException {
      if (!open) {
        return;
      }
      if (savepoints > 0 && random.nextBoolean()) {
        execute((random.nextBoolean() ? "ROLLBACK TO s" : "RELEASE s") + savepoints--);
        return;
      }
      execute("SAVEPOINT s" + ++savepoints);
      insert();
    }

    /** Ends the transaction, if there is one. */
    private void end() throws SQLException {
      if (!open) {
        return;
      }
      int choice = random.nextInt(10);
      open = false;
      savepoints = 0;
      if (choice == 0) {
        String name = "%s %d %d".formatted(table, number, transactions);
        execute("PREPARE TRANSACTION '%s'".formatted(name));
        prepared.add(new Prepared(name, this));
        // Its rows are locked until it is finished.
        free.removeAll(touched);
        return;
      }
      execute(choice < 3 ? "ROLLBACK" : "COMMIT");
      unlocked();
    }

    private void unlocked() {
      if (open) {
        return;
      }
      free.removeAll(touched);
      free.addAll(touched);
      touched.clear();
    }
  }
}
