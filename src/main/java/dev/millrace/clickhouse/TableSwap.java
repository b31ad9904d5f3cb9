package dev.millrace.clickhouse;

import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/**
 * One attempt at exchanging live with a table beside it.
 *
 * <p>EXCHANGE TABLES has no condition: an attempt that freezes between its look and its act would
 * swap back what a later attempt swapped. So the exchange names a table that only this attempt
 * knows. A later attempt first renames that table, and then looks: either the exchange came before
 * the rename and is seen, or its table is gone and it fails. No name from which a table was taken
 * to be published ever gets that table again. For one thread.
 */
final class TableSwap {

  /** Which way. */
  enum Direction {
    /** From the shadow's name into live. */
    FORTH("swap"),
    /** From wherever it is into live again. */
    BACK("rollback");

    private final String step;

    Direction(String step) {
      this.step = step;
    }
  }

  private final ShadowTables tables;
  private final ShadowNames names;
  private final Direction direction;
  private final AttemptStatements attempt;
  private final TargetTable own;
  private final String token;
  private final UUID incoming;
  private final UUID outgoing;

  /**
   * Makes an attempt.
   *
   * @param incoming the table that is to be live
   * @param outgoing the table that is live before
   */
  TableSwap(ShadowTables tables, Direction direction, String token, UUID incoming, UUID outgoing) {
    this.tables = tables;
    this.names = tables.names();
    this.direction = direction;
    this.attempt = tables.attempt(direction.step, token);
    this.own =
        switch (direction) {
          case FORTH -> names.swap(token);
          case BACK -> names.back(token);
        };
    this.token = token;
    this.incoming = incoming;
    this.outgoing = outgoing;
  }

  Swapped run() {
    Map<String, UUID> found = tables.tables();
    if (isLive(found, incoming)) {
      return finish(found);
    }
    if (!isLive(found, outgoing)) {
      throw ShadowTables.overtaken(
          "%s is table %s, not %s, which is to be replaced"
              .formatted(names.live(), found.get(names.live().table()), outgoing));
    }
    TargetTable from =
        waiting(found, incoming)
            .orElseThrow(
                () ->
                    ShadowTables.overtaken(
                        "table %s, which is to be live, is not beside %s"
                            .formatted(incoming, names.live())));
    take(from);
    exchange();
    return giveBack();
  }

  /** Does what an attempt left undone after its exchange. */
  private Swapped finish(Map<String, UUID> found) {
    Optional<TargetTable> other = beside(found, outgoing);
    boolean settled =
        switch (direction) {
          case FORTH -> other.isEmpty() || !names.swaps().matcher(other.get().table()).matches();
          case BACK -> true;
        };
    if (settled) {
      return new Swapped(other.orElse(null), List.of());
    }
    take(other.get());
    exchange();
    return giveBack();
  }

  Optional<TargetTable> withdraw() {
    Optional<TargetTable> from = waiting(tables.tables(), incoming);
    from.filter(table -> !names.backs().matcher(table.table()).matches()).ifPresent(this::take);
    return beside(tables.tables(), incoming);
  }

  /** Takes a table from all other attempts, and waits for exchanges that they have begun. */
  private void take(TargetTable from) {
    tables.pass(direction.step + ".before-rename");
    if (!tables.move(attempt, from, own)) {
      throw ShadowTables.overtaken(from + " is gone");
    }
    tables.pass(direction.step + ".after-rename");
    tables.awaitEnd(tables.exchanges());
  }

  /** Exchanges, unless an attempt did that before the rename. */
  private void exchange() {
    Map<String, UUID> found = tables.tables();
    if (isLive(found, incoming) && isOwn(found, outgoing)) {
      return;
    }
    if (!isLive(found, outgoing) || !isOwn(found, incoming)) {
      throw ShadowTables.overtaken(
          "%s is table %s and %s is %s before the exchange"
              .formatted(
                  names.live(), found.get(names.live().table()), own, found.get(own.table())));
    }
    tables.pass(direction.step + ".before-exchange");
    try {
      tables.exchange(attempt, names.live(), own);
    } catch (MillraceException e) {
      if (e.code() == ErrorCode.ENGINE_UNSUPPORTED) {
        // Nobody tries this again: the shadow is where it is looked for.
        tables.move(attempt, own, names.shadow());
      }
      throw e;
    }
    tables.pass(direction.step + ".after-exchange");
    Map<String, UUID> after = tables.tables();
    if (!isLive(after, incoming)) {
      throw ShadowTables.overtaken(
          "%s is table %s after the exchange, not %s"
              .formatted(names.live(), after.get(names.live().table()), incoming));
    }
  }

  /** Gives the table that was live its last name. */
  private Swapped giveBack() {
    return switch (direction) {
      case FORTH -> {
        List<Pending> pending = renameToShadow();
        tables.pass(direction.step + ".after-rename-back");
        yield new Swapped(names.shadow(), pending);
      }
      case BACK -> new Swapped(own, List.of());
    };
  }

  /** Renames the old table; what has taken the shadow's name meanwhile is thrown away. */
  private List<Pending> renameToShadow() {
    List<Pending> pending = new ArrayList<>();
    try {
      tables.move(attempt, own, names.shadow());
      return pending;
    } catch (MillraceException e) {
      if (ClickHouseFailure.number(e) != ClickHouseFailure.TABLE_ALREADY_EXISTS) {
        throw e;
      }
    }
    tables.pass(direction.step + ".name-taken");
    TargetTable intruder = names.drop(token);
    if (!tables.move(attempt, names.shadow(), intruder)) {
      throw ShadowTables.overtaken(names.shadow() + " comes and goes");
    }
    Optional<UUID> taken = tables.uuid(intruder);
    if (taken.equals(Optional.of(outgoing)) || taken.equals(Optional.of(incoming))) {
      // A later attempt has given the old table its name: it keeps it.
      tables.move(attempt, intruder, names.shadow());
      throw ShadowTables.overtaken(names.shadow() + " is settled already");
    }
    tables.move(attempt, own, names.shadow());
    tables.drop(attempt, intruder).ifPresent(pending::add);
    return pending;
  }

  private boolean isLive(Map<String, UUID> found, UUID uuid) {
    return uuid.equals(found.get(names.live().table()));
  }

  private boolean isOwn(Map<String, UUID> found, UUID uuid) {
    return uuid.equals(found.get(own.table()));
  }

  /**
   * Returns the table of a UUID where this direction may take it from. Only a rollback takes one
   * that a rollback put aside, or that a late attempt wanted to drop.
   */
  private Optional<TargetTable> waiting(Map<String, UUID> found, UUID uuid) {
    return beside(found, uuid)
        .filter(
            table ->
                switch (direction) {
                  case FORTH ->
                      table.equals(names.shadow())
                          || names.swaps().matcher(table.table()).matches();
                  case BACK -> !table.equals(names.live());
                });
  }

  /** Returns the table of a UUID, whatever its name. */
  private Optional<TargetTable> beside(Map<String, UUID> found, UUID uuid) {
    return found.entrySet().stream()
        .filter(table -> table.getValue().equals(uuid))
        .map(table -> names.live().sibling(table.getKey()))
        .findFirst();
  }
}
