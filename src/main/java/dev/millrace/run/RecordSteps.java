package dev.millrace.run;

import dev.millrace.control.ControlPlane;
import dev.millrace.control.LogShipping;
import dev.millrace.control.Wal;
import dev.millrace.control.WalFile;
import dev.millrace.control.WalRecord;
import java.nio.file.Path;
import java.time.Instant;

/** The activities that record a run. Thread-safe. */
public final class RecordSteps implements RecordActivities {
  private final Path walFolder;
  private final LogShipping shipping;

  /**
   * Makes the activities of a worker.
   *
   * @param walFolder where this host's logs are
   * @param shipping is told of each record
   */
  public RecordSteps(Path walFolder, LogShipping shipping) {
    this.walFolder = walFolder;
    this.shipping = shipping;
  }

  @Override
  public void start(Opening opening) {
    WalFile log = new WalFile(walFolder, opening.pipeline(), opening.runId());
    append(
        new WalRecord.RunStart(
            opening.runId(),
            opening.pipeline(),
            opening.mode(),
            ControlPlane.localHost(),
            Math.toIntExact(ProcessHandle.current().pid()),
            Instant.parse(opening.startedAt()),
            log.path().toString(),
            opening.temporal().extra()));
  }

  @Override
  public void event(WalRecord.Event event) {
    append(event);
  }

  @Override
  public void budget(WalRecord.Budget budget) {
    append(budget);
  }

  @Override
  public void finish(WalRecord.RunFinish finish) {
    append(finish);
  }

  private void append(WalRecord record) {
    WalFile log = new WalFile(walFolder, record.extractor(), record.runId());
    try (Wal wal = Wal.open(log)) {
      wal.append(record);
    }
    shipping.soon(log);
  }
}
