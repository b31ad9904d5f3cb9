package dev.millrace.refresh;

import dev.millrace.clickhouse.ShadowTables;
import dev.millrace.clickhouse.TargetTable;
import dev.millrace.postgres.Postgres;
import java.util.Optional;
import java.util.UUID;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Decides a swap that an earlier run left half done, before a new one begins. */
final class LeftSwap {
  private static final Logger LOG = LoggerFactory.getLogger(LeftSwap.class);

  private final Postgres state;
  private final Fence fence;
  private final ShadowTables tables;
  private final Layout layout;
  private final SettledAudit audit;
  private final TargetKey key;
  private final TargetTable live;

  LeftSwap(
      Postgres state,
      RefreshActivities.Task task,
      ShadowTables tables,
      Layout layout,
      SettledAudit audit) {
    this.state = state;
    this.fence = new Fence(state, task);
    this.tables = tables;
    this.layout = layout;
    this.audit = audit;
    this.key = TargetKey.of(task.input());
    this.live = layout.target();
  }

  /**
   * Decides it. What became live and is what was audited counts as published; what became live and
   * is not, or can't be compared any more, is swapped back; what did not become live is forgotten.
   *
   * @return what was done, for people; empty when nothing was left
   */
  Optional<String> decide() {
    Optional<Intent> left = state.transact(connection -> RefreshState.intent(connection, key));
    if (left.isEmpty()) {
      return Optional.empty();
    }
    String done = decide(left.get());
    LOG.warn("{}", done);
    return Optional.of(done);
  }

  private String decide(Intent intent) {
    if (!isLive(intent.shadowUuid())) {
      // An attempt that froze before its exchange must not find the name when it wakes up.
      tables.withdraw(AttemptToken.draw(), UUID.fromString(intent.shadowUuid()));
    }
    if (!isLive(intent.shadowUuid())) {
      forget(intent);
      return "run %s did not get to its swap of %s; live is as it was"
          .formatted(intent.runId(), live);
    }
    if (isAsAudited(intent)) {
      state.transact(
          connection -> {
            fence.check(connection);
            RefreshState.save(connection, key, intent.shadowUuid());
            return null;
          });
      return "run %s published %s and died before it said so; it is recorded now"
          .formatted(intent.runId(), live);
    }
    swapBack(intent);
    forget(intent);
    return "run %s published %s, which is not what it audited; the table of before was swapped back"
        .formatted(intent.runId(), live);
  }

  private boolean isLive(String uuid) {
    return tables.uuid(live).map(UUID::toString).equals(Optional.of(uuid));
  }

  private boolean isAsAudited(Intent intent) {
    if (!intent.layout().equals(layout.hash())) {
      return false;
    }
    AuditFigures now = audit.read(live);
    return Fingerprint.of(now, now).live().equals(intent.fingerprint().live());
  }

  private void swapBack(Intent intent) {
    fence.inside(
        () ->
            tables.rollBack(
                AttemptToken.draw(),
                UUID.fromString(intent.shadowUuid()),
                UUID.fromString(intent.liveUuid())));
  }

  private void forget(Intent intent) {
    state.transact(
        connection -> {
          fence.check(connection);
          RefreshState.forgetIntent(connection, key, intent.shadowUuid());
          return null;
        });
  }
}
