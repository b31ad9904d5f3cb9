package dev.millrace.verify;

import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import dev.millrace.lake.Lake;
import dev.millrace.postgres.Identifiers;
import dev.millrace.postgres.Postgres;
import dev.millrace.postgres.RowFilter;
import dev.millrace.postgres.TableName;
import dev.millrace.replication.CommittedTable;
import dev.millrace.replication.Manifest;
import dev.millrace.verify.Finding.Kind;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Proves a table's lake against Postgres: what the state says was published, what is there, and
 * what the table holds now. It changes nothing and takes no lease, so a run may be at work beside
 * it.
 *
 * <p>Thread-safe.
 */
public final class Verification {
  private static final int LOOKS = 5;

  private final Postgres state;
  private final Postgres source;
  private final List<Lake> lakes;
  private final Path scratch;
  private final long mostHeld;
  private final Consumer<String> progress;

  /**
   * Makes it.
   *
   * @param state where Millrace keeps its memory
   * @param source where the table is
   * @param lakes those in which its folder may be
   * @param scratch a folder for files of a moment: one object at a time, and hashes of rows
   * @param progress gets a line now and then
   */
  public Verification(
      Postgres state,
      Postgres source,
      Collection<Lake> lakes,
      Path scratch,
      Consumer<String> progress) {
    this(state, source, lakes, scratch, HashRecords.MOST_HELD, progress);
  }

  Verification(
      Postgres state,
      Postgres source,
      Collection<Lake> lakes,
      Path scratch,
      long mostHeld,
      Consumer<String> progress) {
    this.state = state;
    this.source = source;
    this.lakes = List.copyOf(lakes);
    this.scratch = scratch;
    this.mostHeld = mostHeld;
    this.progress = progress;
  }

  /** State and lake as they are at one moment. */
  private record Look(CommittedTable committed, TableFolder folder, TableFolder.Listing listing) {}

  /**
   * Rows of the table.
   *
   * @param upTo the watermark
   * @param pending of these, those that the next run takes
   * @param reason why none of them is known to be; null where they are
   */
  private record Counted(long upTo, long pending, String reason) {}

  /**
   * Proves a table.
   *
   * @param rows whether each row is compared, and not only figures
   * @throws MillraceException when it could not look
   */
  public Proof prove(String pipeline, TableName table, boolean rows) {
    Look look = look(pipeline, table);
    CommittedTable committed = look.committed();
    List<Finding> findings = new ArrayList<>();
    Map<String, Manifest> manifests = TableFolder.manifests(look.listing(), findings);
    ObjectAudit.Audited audited =
        ObjectAudit.audit(
            look.folder().objects(look.listing(), manifests, findings),
            manifests,
            committed.lastObject(),
            committed.keyKind(),
            committed.watermark());
    findings.addAll(audited.findings());
    ZoneId zone = zone(audited.windows(), manifests.values());
    RowFilter filter = filter(audited.windows());
    TableAtSource relation =
        source.read(connection -> TableAtSource.find(connection, table, committed, filter));
    List<String> notes = notes(committed);
    if (!filter.isNone()) {
      notes.add("rows that do not pass the row filter (%s) are left out".formatted(filter.text()));
    }
    long inLake = audited.windows().stream().mapToLong(LakeObject::rows).sum();
    Counted counted;
    Proof.Rows compared = null;
    if (rows) {
      RowProof.Outcome outcome = compareRows(look, audited, relation, zone);
      counted = new Counted(outcome.upTo(), outcome.pending(), outcome.reason());
      findings.addAll(outcome.findings());
      notes.addAll(outcome.notes());
      compared = outcome.rows();
    } else {
      counted = source.read(connection -> count(connection, committed, relation, zone));
      if (counted.upTo() - counted.pending() > inLake) {
        findings.add(fewer(counted, inLake));
      }
    }
    if (counted.reason() != null) {
      notes.add(
          "%s, so rows that were written since the last window are taken for missing"
              .formatted(counted.reason()));
    }
    return new Proof(
        pipeline,
        table.toString(),
        verdict(findings, compared),
        committed.watermark(),
        source.name(),
        look.folder().address(),
        committed.openRun(),
        committed.publishing(),
        audited.windows().size(),
        audited.windows().stream().mapToLong(object -> object.listed().bytes()).sum(),
        inLake,
        counted.upTo(),
        counted.pending(),
        compared,
        findings,
        notes);
  }

  private static Proof.Verdict verdict(List<Finding> findings, Proof.Rows compared) {
    if (!findings.isEmpty()) {
      return Proof.Verdict.DIFFERS;
    }
    if (compared == null) {
      return Proof.Verdict.FIGURES_AGREE;
    }
    return compared.deletedVersions() > 0
        ? Proof.Verdict.PROVEN_BUT_DELETED_ROWS
        : Proof.Verdict.PROVEN;
  }

  private static List<String> notes(CommittedTable committed) {
    List<String> notes = new ArrayList<>();
    if (committed.openRun() != null) {
      notes.add(
          "run %s of the pipeline is open; this is about the windows that were committed when it was looked at"
              .formatted(committed.openRun()));
    }
    if (committed.publishing() != null) {
      notes.add(
          committed.openRun() != null
              ? "%s is being published, and is left out".formatted(committed.publishing())
              : "%s was left half published; the next run decides it, and it is left out here"
                  .formatted(committed.publishing()));
    }
    return notes;
  }

  /** Returns which rows the last window took; rows of before may have met another filter. */
  private static RowFilter filter(List<LakeObject> windows) {
    return windows.isEmpty()
        ? RowFilter.NONE
        : windows.get(windows.size() - 1).manifest().rowFilter();
  }

  private static ZoneId zone(List<LakeObject> windows, Collection<Manifest> manifests) {
    if (!windows.isEmpty()) {
      return ZoneId.of(windows.get(windows.size() - 1).manifest().keyTimeZone());
    }
    return manifests.stream()
        .findFirst()
        .map(manifest -> ZoneId.of(manifest.keyTimeZone()))
        .orElse(ZoneId.of("UTC"));
  }

  /** Looks until no window was committed meanwhile. */
  private Look look(String pipeline, TableName table) {
    for (int tried = 0; tried < LOOKS; tried++) {
      CommittedTable before = committed(pipeline, table);
      TableFolder folder = new TableFolder(lake(before), before.folder());
      TableFolder.Listing listing = folder.list();
      CommittedTable after = committed(pipeline, table);
      if (before.sameAs(after)) {
        return new Look(after, folder, listing.without(after.publishing()));
      }
    }
    throw new MillraceException(
        ErrorCode.RUN_OPEN,
        "windows of %s were committed during each of %d looks; try again when the run of pipeline %s is over"
            .formatted(table, LOOKS, pipeline));
  }

  private CommittedTable committed(String pipeline, TableName table) {
    CommittedTable committed =
        state
            .read(connection -> CommittedTable.find(connection, pipeline, table))
            .orElseThrow(
                () ->
                    new MillraceException(
                        ErrorCode.BAD_INPUT,
                        "pipeline %s has no state of table %s; SELECT * FROM millrace.watermark shows what there is"
                            .formatted(pipeline, table)));
    if (committed.watermark() == null) {
      throw new MillraceException(
          ErrorCode.BAD_INPUT,
          "%s of pipeline %s has no watermark yet: nothing was copied, so there is nothing to prove"
              .formatted(table, pipeline));
    }
    return committed;
  }

  private Lake lake(CommittedTable committed) {
    return lakes.stream()
        .filter(
            lake ->
                lake.location().equals(committed.lake())
                    && lake.prefix().equals(committed.prefix()))
        .findFirst()
        .orElseThrow(
            () ->
                new MillraceException(
                    ErrorCode.BAD_INPUT,
                    "the table is in %s, prefix '%s', and the lakes to look in are: %s; name its lake with --lake, or correct the configuration"
                        .formatted(
                            committed.lake(),
                            committed.prefix(),
                            lakes.stream()
                                .map(
                                    lake ->
                                        "%s, prefix '%s'".formatted(lake.location(), lake.prefix()))
                                .collect(Collectors.joining("; ")))));
  }

  private static Counted count(
      Connection connection, CommittedTable committed, TableAtSource table, ZoneId zone)
      throws SQLException {
    CommittedTable.Pending pending = committed.pending(connection, table.relation(), zone);
    try (Statement statement = connection.createStatement();
        ResultSet row =
            statement.executeQuery(
                "SELECT count(*), count(*) FILTER (WHERE %s) FROM %s WHERE %s"
                    .formatted(
                        pending.condition(),
                        Identifiers.quote(table.relation().name()),
                        table.filter().and(committed.upToWatermark(zone))))) {
      row.next();
      return new Counted(row.getLong(1), row.getLong(2), pending.reason());
    }
  }

  private static Finding fewer(Counted counted, long inLake) {
    return new Finding(
        Kind.FEWER_ROWS_THAN_SOURCE,
        "the table has %,d rows up to the watermark, without those that the next run takes, and the lake has only %,d"
            .formatted(counted.upTo() - counted.pending(), inLake),
        List.of(),
        "--rows tells which; rows whose key was set by hand below the look-back are taken by no run until their key is set anew");
  }

  private RowProof.Outcome compareRows(
      Look look, ObjectAudit.Audited audited, TableAtSource relation, ZoneId zone) {
    Path folder = null;
    try {
      folder = Files.createTempDirectory(scratch, "millrace-verify");
      try (RowProof proof =
          new RowProof(look.folder(), audited, relation, folder, mostHeld, progress)) {
        return proof.prove(source, look.committed(), zone);
      }
    } catch (IOException | UncheckedIOException exception) {
      throw new MillraceException(
          ErrorCode.INTERNAL,
          "hashes of rows can't be written to or read from %s: %s; look at the space left there, or set another folder (JAVA_TOOL_OPTIONS=-Djava.io.tmpdir=…)"
              .formatted(folder == null ? scratch : folder, exception.getMessage()),
          exception);
    } finally {
      remove(folder);
    }
  }

  private void remove(Path folder) {
    if (folder == null) {
      return;
    }
    try (Stream<Path> files = Files.list(folder)) {
      for (Path file : files.toList()) {
        Files.deleteIfExists(file);
      }
      Files.deleteIfExists(folder);
    } catch (IOException exception) {
      progress.accept("%s is left: %s".formatted(folder, exception));
    }
  }
}
