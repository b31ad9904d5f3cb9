package dev.millrace.clickhouse;

import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.Consumer;

/**
 * The tables beside a live one, during a run that owns the target.
 *
 * <p>Each operation takes a token that no attempt ever had, and acts on names with that token, so
 * an attempt that froze and wakes up late meets names that are gone. An operation may be tried
 * again, with a new token, after any failure. Nothing here ever drops a table under the live name.
 *
 * <p>All throw a {@link MillraceException} as {@link ClickHouse#execute}; {@code ATTEMPT_OVERTAKEN}
 * when another attempt was at it. Thread-safe.
 */
public final class ShadowTables {
  private final ClickHouse clickhouse;
  private final ShadowStatements statements;
  private final ShadowNames names;
  private final String runId;
  private final Duration patience;
  private final Consumer<String> points;
  private final TableDrops drops;

  /**
   * Makes the operations of a run.
   *
   * @param clickhouse the server
   * @param statements the target and how it is replicated
   * @param runId the run; part of each query id
   * @param patience how long to wait for other statements: loads that are ended, exchanges of
   *     earlier attempts, users of a table that is dropped
   * @param points is told the name of each place between two statements, for tests: {@code
   *     load.before-create}, {@code load.after-create}, {@code load.before-promote}, {@code
   *     load.after-promote}, {@code discard.before-rename}, {@code discard.after-rename}, {@code
   *     swap.before-rename}, {@code swap.after-rename}, {@code swap.before-exchange}, {@code
   *     swap.after-exchange}, {@code swap.name-taken}, {@code swap.after-rename-back}; and {@code
   *     rollback.} with the four from {@code before-rename} to {@code after-exchange}
   */
  public ShadowTables(
      ClickHouse clickhouse,
      ShadowStatements statements,
      String runId,
      Duration patience,
      Consumer<String> points) {
    this.clickhouse = clickhouse;
    this.statements = statements;
    this.names = new ShadowNames(statements.live());
    this.runId = runId;
    this.patience = patience;
    this.points = points;
    this.drops = new TableDrops(clickhouse, statements, patience);
  }

  /** Returns the names of the tables. */
  public ShadowNames names() {
    return names;
  }

  /** Returns the query id under which an attempt loads {@link ShadowNames#load}. */
  public String loadQueryId(String token) {
    return attempt("load", token).nextId();
  }

  /** Returns the UUID of a table; empty when there is none, or it is hidden from the user. */
  public Optional<UUID> uuid(TargetTable table) {
    return Catalogue.table(clickhouse, table).map(TableFacts::uuid);
  }

  /**
   * Makes an empty table like the live one, for this attempt to load.
   *
   * @return its UUID
   * @throws MillraceException also {@code TARGET_MISSING} when there is no live table
   */
  public UUID createLoad(String token) {
    TableFacts live =
        Catalogue.table(clickhouse, names.live()).orElseThrow(() -> missing(names.live()));
    TargetTable load = names.load(token);
    points.accept("load.before-create");
    attempt("create", token).run(statements.create(live, load, UUID.randomUUID()));
    points.accept("load.after-create");
    return uuid(load).orElseThrow(() -> missing(load));
  }

  /**
   * Gives the loaded table of this attempt the shadow's name, once nothing writes it any more.
   *
   * @return its UUID
   * @throws MillraceException also {@code ATTEMPT_OVERTAKEN} when the name is taken or the load is
   *     gone, {@code CLICKHOUSE_UNAVAILABLE} when its query does not end
   */
  public UUID promoteLoad(String token) {
    TargetTable load = names.load(token);
    awaitEnd(loadsOf(token));
    UUID loaded = uuid(load).orElseThrow(() -> overtaken(load + " is gone"));
    points.accept("load.before-promote");
    try {
      attempt("promote", token).run(statements.rename(load, names.shadow()));
    } catch (MillraceException e) {
      throw switch (ClickHouseFailure.number(e)) {
        case ClickHouseFailure.TABLE_ALREADY_EXISTS ->
            overtaken(names.shadow() + " is there already");
        case ClickHouseFailure.UNKNOWN_TABLE -> overtaken(load + " is gone");
        default -> e;
      };
    }
    points.accept("load.after-promote");
    return loaded;
  }

  /**
   * Ends this user's queries that load beside the target, of this run and of earlier ones, and
   * throws their tables away.
   *
   * @return what stays for now
   */
  public List<Pending> discardLoads(String token) {
    endAll(
        clickhouse.runningWhere("user = currentUser() AND startsWith(query_id, ?)", ofRun("load")));
    List<Pending> pending = new ArrayList<>();
    AttemptStatements attempt = attempt("discard", token);
    for (String name : tables().keySet()) {
      if (names.loads().matcher(name).matches()) {
        endAll(loadsOf(ShadowNames.token(name)));
        TargetTable moved = names.drop(token, name);
        if (move(attempt, names.live().sibling(name), moved)) {
          drops.drop(attempt, moved).ifPresent(pending::add);
        }
      }
    }
    return pending;
  }

  /**
   * Throws the shadow away.
   *
   * @param expected its UUID; null for any, where no other attempt may have made another one since
   * @return why it stays for now; empty when it is gone, or was not there
   * @throws MillraceException also {@code ATTEMPT_OVERTAKEN} when it is another one
   */
  public Optional<Pending> discardShadow(String token, UUID expected) {
    TargetTable shadow = names.shadow();
    Optional<UUID> found = uuid(shadow);
    if (found.isEmpty()) {
      return Optional.empty();
    }
    requireExpected(expected, found.get());
    AttemptStatements attempt = attempt("discard", token);
    TargetTable moved = names.drop(token);
    points.accept("discard.before-rename");
    if (!move(attempt, shadow, moved)) {
      return Optional.empty();
    }
    points.accept("discard.after-rename");
    Optional<UUID> taken = uuid(moved);
    if (expected != null && taken.isPresent() && !taken.get().equals(expected)) {
      // Another attempt's shadow took the name after the look above: it gets it back.
      attempt.run(statements.rename(moved, shadow));
      requireExpected(expected, taken.get());
    }
    return drops.drop(attempt, moved);
  }

  private void requireExpected(UUID expected, UUID found) {
    if (expected != null && !found.equals(expected)) {
      throw overtaken(
          "%s is table %s, not %s, which was to be dropped"
              .formatted(names.shadow(), found, expected));
    }
  }

  /**
   * Throws away what earlier attempts and runs left under names with {@code __swap_}, {@code
   * __back_} and {@code __drop_}. Not for the time of a swap.
   *
   * @param keep the UUIDs of tables that are still needed, whatever their names; live always is
   * @return what stays for now
   */
  public List<Pending> discardLeftovers(String token, Set<UUID> keep) {
    Set<UUID> kept = new HashSet<>(keep);
    uuid(names.live()).ifPresent(kept::add);
    AttemptStatements attempt = attempt("discard", token);
    List<Pending> pending = new ArrayList<>();
    for (Map.Entry<String, UUID> table : tables().entrySet()) {
      if (!kept.contains(table.getValue())) {
        discardLeftover(attempt, token, table.getKey(), kept).ifPresent(pending::add);
      }
    }
    return pending;
  }

  private Optional<Pending> discardLeftover(
      AttemptStatements attempt, String token, String name, Set<UUID> kept) {
    TargetTable leftover = names.live().sibling(name);
    if (names.drops().matcher(name).matches()) {
      return drops.drop(attempt, leftover);
    }
    if (!names.swaps().matcher(name).matches() && !names.backs().matcher(name).matches()) {
      return Optional.empty();
    }
    TargetTable moved = names.drop(token, name);
    if (!move(attempt, leftover, moved)) {
      return Optional.empty();
    }
    Optional<UUID> taken = uuid(moved);
    if (taken.isPresent() && kept.contains(taken.get())) {
      attempt.run(statements.rename(moved, leftover));
      throw overtaken("%s changed while it was thrown away".formatted(leftover));
    }
    return drops.drop(attempt, moved);
  }

  /**
   * Publishes the shadow: live gets its UUID, the old table becomes the shadow. What an earlier
   * attempt did of it is not done again.
   *
   * @param shadow the UUID of the table to publish
   * @param live the UUID of the table that is live before
   * @return the old table, and what stays for now of what was in the way of its name
   * @throws MillraceException also {@code ATTEMPT_OVERTAKEN} when the tables are others, {@code
   *     ENGINE_UNSUPPORTED} when the server can't exchange, {@code CLICKHOUSE_UNAVAILABLE} when an
   *     exchange of an earlier attempt does not end
   */
  public Swapped swap(String token, UUID shadow, UUID live) {
    return new TableSwap(this, TableSwap.Direction.FORTH, token, shadow, live).run();
  }

  /**
   * Takes a swap back. The table that was live in between keeps a name of this attempt, to be
   * looked at until {@link #discardLeftovers}: under the shadow's name an attempt at the swap that
   * wakes up late would publish it again.
   *
   * @param published the UUID of the table that is live
   * @param old the UUID of the table that was live before
   * @return where the table that was published is now
   * @throws MillraceException as {@link #swap}
   */
  public Swapped rollBack(String token, UUID published, UUID old) {
    return new TableSwap(this, TableSwap.Direction.BACK, token, old, published).run();
  }

  /**
   * Takes from all attempts at a swap, also from those that wake up late, what they would publish;
   * for a run that gives up in the middle of a swap.
   *
   * @param shadow the UUID of the table that was to be published
   * @return where it is now; the live table when an attempt has published it, empty when it is gone
   */
  public Optional<TargetTable> withdraw(String token, UUID shadow) {
    return new TableSwap(this, TableSwap.Direction.BACK, token, shadow, shadow).withdraw();
  }

  /**
   * Exchanges two tiny tables and drops them, so that a file system that can't is found before the
   * load.
   *
   * @throws MillraceException also {@code ENGINE_UNSUPPORTED}
   */
  public void probeExchange(String token) {
    AttemptStatements attempt = attempt("probe", token);
    TargetTable one = names.drop(token, "one");
    TargetTable other = names.drop(token, "other");
    attempt.run(statements.createTiny(one));
    attempt.run(statements.createTiny(other));
    try {
      exchange(attempt, one, other);
    } finally {
      drops.drop(attempt, one);
      drops.drop(attempt, other);
    }
  }

  /**
   * Returns INSERTs and ALTERs at work that name a table, as far as the user may see them. What a
   * materialized view or a buffer writes there names other tables.
   */
  public List<RunningQuery> writersOf(TargetTable table) {
    return clickhouse.runningWhere(
        "(query_kind IN ('Insert', 'AsyncInsertFlush') AND match(query, ?))"
            + " OR (query_kind IN ('Alter', 'Delete', 'Update') AND match(query, ?))",
        QueryText.insertingInto(table),
        QueryText.naming(table));
  }

  /** Exchanges two names. */
  void exchange(AttemptStatements attempt, TargetTable one, TargetTable other) {
    try {
      attempt.run(statements.exchange(one, other));
    } catch (MillraceException e) {
      throw exchangeFailure(e, names.live());
    }
  }

  static MillraceException exchangeFailure(MillraceException failure, TargetTable live) {
    return switch (ClickHouseFailure.number(failure)) {
      case ClickHouseFailure.NOT_IMPLEMENTED, ClickHouseFailure.SUPPORT_IS_DISABLED ->
          new MillraceException(
              ErrorCode.ENGINE_UNSUPPORTED,
              ("the server can't exchange tables of database %s; live is untouched. Move the"
                      + " database's metadata to a file system with renameat2 (NFS has none): %s")
                  .formatted(live.database(), failure.getMessage()),
              failure);
      case ClickHouseFailure.UNKNOWN_TABLE ->
          overtaken("a table of the exchange is gone: " + failure.getMessage());
      default -> failure;
    };
  }

  /**
   * Renames a table.
   *
   * @return false when it is gone
   */
  boolean move(AttemptStatements attempt, TargetTable from, TargetTable to) {
    try {
      attempt.run(statements.rename(from, to));
      return true;
    } catch (MillraceException e) {
      if (ClickHouseFailure.number(e) == ClickHouseFailure.UNKNOWN_TABLE) {
        return false;
      }
      throw e;
    }
  }

  /** Returns the live table and all beside it, by name. */
  Map<String, UUID> tables() {
    return Catalogue.tablesLike(clickhouse, names.live().database(), names.all());
  }

  AttemptStatements attempt(String step, String token) {
    return new AttemptStatements(clickhouse, runId, step, token);
  }

  Optional<Pending> drop(AttemptStatements attempt, TargetTable table) {
    return drops.drop(attempt, table);
  }

  void pass(String point) {
    points.accept(point);
  }

  /** Returns this user's exchanges of the target by other attempts, also of other runs. */
  List<RunningQuery> exchanges() {
    return clickhouse.runningWhere(
        "user = currentUser() AND startsWith(query, 'EXCHANGE TABLES') AND position(query, ?) > 0",
        names.live().sql());
  }

  private List<RunningQuery> loadsOf(String token) {
    return clickhouse.runningWhere(
        AttemptStatements.ofStep("load") + " AND position(query_id, ?) > 0",
        "-load-" + token + "-");
  }

  private String ofRun(String step) {
    return "millrace-%s-%s-".formatted(runId, step);
  }

  private void endAll(List<RunningQuery> queries) {
    for (RunningQuery query : queries) {
      if (!clickhouse.kill(query.queryId(), patience)) {
        throw stillAtWork(query);
      }
    }
  }

  /** Waits until statements have ended by themselves. */
  void awaitEnd(List<RunningQuery> queries) {
    for (RunningQuery query : queries) {
      if (clickhouse.await(query.queryId(), patience).state() == QueryEnd.State.RUNNING) {
        throw stillAtWork(query);
      }
    }
  }

  private MillraceException stillAtWork(RunningQuery query) {
    return new MillraceException(
        ErrorCode.CLICKHOUSE_UNAVAILABLE,
        "query %s of an earlier attempt at %s does not end within %d s; end it with KILL QUERY"
            .formatted(query, names.live(), patience.toSeconds()));
  }

  private static MillraceException missing(TargetTable table) {
    return new MillraceException(
        ErrorCode.TARGET_MISSING,
        "%s does not exist, or the user may not see it; grant SHOW TABLES and SELECT on it and on"
                .formatted(table)
            + " the tables beside it");
  }

  static MillraceException overtaken(String what) {
    return new MillraceException(
        ErrorCode.ATTEMPT_OVERTAKEN, what + "; another attempt or somebody else was at it");
  }
}
