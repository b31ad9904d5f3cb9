package dev.millrace.app;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.millrace.app.Fleet.Dead;
import dev.millrace.app.Fleet.PipelineLine;
import dev.millrace.app.Fleet.Waiting;
import dev.millrace.control.RejectedLines;
import dev.millrace.control.Shipper;
import dev.millrace.control.WalFile;
import dev.millrace.postgres.Postgres;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;

/** {@code millrace fleet}: what runs, what ran last, and what needs a person. */
@Command(
    name = "fleet",
    description = {
      "Show what runs and waits, what ran last in each pipeline, leases, and records not yet shipped.",
      "Ends with 1 when something needs a person."
    },
    mixinStandardHelpOptions = true)
final class FleetCommand implements Callable<Integer> {
  private static final JsonMapper JSON =
      JsonMapper.builder().enable(SerializationFeature.INDENT_OUTPUT).build();

  /** A worker ships within seconds; after this long nobody does. */
  private static final Duration STUCK = Duration.ofMinutes(10);

  private static final int MOST_ERROR = 160;

  @ParentCommand private Main main;
  @Spec private CommandSpec specification;

  @Option(names = "--json", description = "Print one JSON object instead of text.")
  private boolean json;

  @Override
  public Integer call() throws JsonProcessingException {
    Configuration configuration = main.configuration();
    Fleet fleet = read(configuration);
    PrintWriter out = specification.commandLine().getOut();
    out.println(json ? JSON.writeValueAsString(fleet) : text(fleet));
    out.flush();
    return fleet.attention().isEmpty() ? 0 : Main.FAILURE;
  }

  private static Fleet read(Configuration configuration) {
    String name = configuration.state();
    Fleet.Log log = log(configuration.control().walFolder());
    try (Postgres state =
        new Postgres(Adapters.postgres(name, configuration.postgres().get(name)))) {
      return state.read(
          connection -> {
            boolean ready = FleetQueries.ready(connection);
            List<PipelineLine> pipelines = ready ? FleetQueries.pipelines(connection) : List.of();
            List<Waiting> queue = ready ? FleetQueries.queue(connection) : List.of();
            List<Dead> dead = ready ? FleetQueries.dead(connection) : List.of();
            return new Fleet(pipelines, queue, dead, log, attention(pipelines, dead, log));
          });
    }
  }

  private static Fleet.Log log(Path folder) {
    Instant now = Instant.now();
    int files = 0;
    int stuck = 0;
    long bytes = 0;
    long rejected = 0;
    for (WalFile file : WalFile.in(folder)) {
      long unshipped = Shipper.unshipped(file);
      rejected += RejectedLines.count(file);
      if (unshipped == 0) {
        continue;
      }
      files++;
      bytes += unshipped;
      if (file.changedAt().isBefore(now.minus(STUCK))) {
        stuck++;
      }
    }
    return new Fleet.Log(folder.toString(), files, bytes, stuck, rejected);
  }

  static List<String> attention(List<PipelineLine> pipelines, List<Dead> dead, Fleet.Log log) {
    List<String> attention = new ArrayList<>();
    for (PipelineLine line : pipelines) {
      if (hasFailed(line)) {
        attention.add(
            "pipeline %s: its last run %s is %s/%s%s"
                .formatted(
                    line.pipeline(),
                    line.runId(),
                    line.status(),
                    line.stopReason(),
                    line.lastError() == null ? "" : ", " + cut(line.lastError())));
      }
    }
    for (Dead run : dead) {
      attention.add(
          run.workflowId() == null
              ? "run %s of %s never ended, and nobody renews its lease; it died on %s"
                  .formatted(run.runId(), run.pipeline(), run.host())
              : "run %s of %s has no worker that renews its lease; start a worker, or see what became of workflow %s"
                  .formatted(run.runId(), run.pipeline(), run.workflowId()));
    }
    if (log.rejectedLines() > 0) {
      attention.add(
          "%d lines of logs can't be shipped; see the *.rejected files in %s"
              .formatted(log.rejectedLines(), log.folder()));
    }
    if (log.stuckFiles() > 0) {
      attention.add(
          "%d logs in %s have not been shipped for %d minutes; start a worker on this host, or see its log"
              .formatted(log.stuckFiles(), log.folder(), STUCK.toMinutes()));
    }
    return attention;
  }

  /** A run that a budget cut short is healthy, and one that died has a successor to look at. */
  private static boolean hasFailed(PipelineLine line) {
    if (line.status() == null) {
      return false;
    }
    return switch (line.status()) {
      case "failed", "died" -> true;
      case "partial" -> "error".equals(line.stopReason());
      default -> false;
    };
  }

  private static String cut(String text) {
    String line = text.replaceAll("\\s+", " ");
    return line.length() <= MOST_ERROR ? line : line.substring(0, MOST_ERROR) + "…";
  }

  static String text(Fleet fleet) {
    TextTable table =
        new TextTable(
            "PIPELINE", "STATE", "STARTED", "TOOK", "TABLES", "ROWS", "WATERMARK", "LEASE", "RUN");
    for (PipelineLine line : fleet.pipelines()) {
      table.add(
          line.pipeline(),
          state(line),
          line.startedSecondsAgo() == null ? "-" : age(line.startedSecondsAgo()) + " ago",
          line.seconds() == null ? "-" : age(line.seconds()),
          tables(line),
          line.rows() == null ? "-" : "%,d".formatted(line.rows()),
          line.watermarkAgeSeconds() == null ? "-" : age(line.watermarkAgeSeconds()) + " behind",
          lease(line),
          line.runId() == null ? "-" : line.runId());
    }
    StringBuilder text = new StringBuilder();
    text.append(fleet.pipelines().isEmpty() ? "No pipeline has run yet.\n" : table.toString());
    for (Waiting waiting : fleet.queue()) {
      text.append(
          "queued: %s, workflow %s, for %s (asked %s ago)%n"
              .formatted(
                  waiting.pipeline(),
                  waiting.workflowId(),
                  age(waiting.waitingSeconds()),
                  age(waiting.askedSecondsAgo())));
    }
    text.append(
        "log of this host: %,d bytes in %d files not shipped yet, %d lines rejected (%s)%n"
            .formatted(
                fleet.log().unshippedBytes(),
                fleet.log().files(),
                fleet.log().rejectedLines(),
                fleet.log().folder()));
    fleet.attention().forEach(finding -> text.append("! ").append(finding).append('\n'));
    return text.toString().stripTrailing();
  }

  private static String state(PipelineLine line) {
    if (line.status() == null) {
      return "-";
    }
    return line.stopReason() == null ? line.status() : line.status() + "/" + line.stopReason();
  }

  private static String tables(PipelineLine line) {
    if (line.ok() == null) {
      return "-";
    }
    String failed =
        line.failed() == null || line.failed() == 0 ? "" : ", " + line.failed() + " failed";
    String skipped =
        line.skipped() == null || line.skipped() == 0 ? "" : ", " + line.skipped() + " left";
    return line.ok() + " ok" + failed + skipped;
  }

  private static String lease(PipelineLine line) {
    if (line.lease() == null) {
      return "-";
    }
    if (line.lease().secondsLeft() >= 0) {
      return age(line.lease().secondsLeft()) + " left";
    }
    boolean needed = line.finishedAt() == null && line.lease().runId().equals(line.runId());
    return needed ? "expired" : "-";
  }

  /** Two units at most: who looks wants the size, not the second. */
  static String age(long seconds) {
    long whole = Math.max(0, seconds);
    if (whole < 60) {
      return whole + " s";
    }
    if (whole < 3600) {
      return "%d min".formatted(whole / 60);
    }
    if (whole < 86_400) {
      return "%d h %d min".formatted(whole / 3600, whole % 3600 / 60);
    }
    return "%d d %d h".formatted(whole / 86_400, whole % 86_400 / 3600);
  }
}
