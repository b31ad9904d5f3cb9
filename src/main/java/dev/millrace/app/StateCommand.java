package dev.millrace.app;

import dev.millrace.control.Pipeline;
import dev.millrace.failure.MillraceException;
import dev.millrace.lake.Lake;
import dev.millrace.postgres.Postgres;
import dev.millrace.postgres.TableName;
import dev.millrace.replication.StateByHand;
import java.io.PrintWriter;
import java.util.List;
import java.util.function.Consumer;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;

/** {@code millrace state}: what a person decides about a table's watermark. */
@Command(
    name = "state",
    description = "Decide by hand what becomes of a table's watermark.",
    mixinStandardHelpOptions = true,
    synopsisSubcommandLabel = "COMMAND")
final class StateCommand implements Runnable {
  @ParentCommand private Main main;
  @Spec private CommandSpec specification;

  @Override
  public void run() {
    throw new ParameterException(specification.commandLine(), "accept or reset is missing");
  }

  @Command(
      name = "accept",
      description = "Keep the watermark for the table and lake that the next run finds.",
      mixinStandardHelpOptions = true)
  int accept(
      @Option(names = "--pipeline", required = true, description = "The pipeline.") String pipeline,
      @Option(names = "--table", required = true, description = "The table, as schema.table.")
          String table) {
    change(state -> state.accept(new Pipeline(pipeline), TableName.parse(table)));
    return said("%s of pipeline %s keeps its watermark".formatted(table, pipeline));
  }

  @Command(
      name = "reset",
      description = "Forget the watermark, so that the next run loads all rows again.",
      mixinStandardHelpOptions = true)
  int reset(
      @Option(names = "--pipeline", required = true, description = "The pipeline.") String pipeline,
      @Option(names = "--table", required = true, description = "The table, as schema.table.")
          String table) {
    change(state -> state.reset(new Pipeline(pipeline), TableName.parse(table)));
    return said("%s of pipeline %s is loaded anew by the next run".formatted(table, pipeline));
  }

  private int said(String text) {
    PrintWriter out = specification.commandLine().getOut();
    out.println(text);
    out.flush();
    return 0;
  }

  private void change(Consumer<StateByHand> change) throws MillraceException {
    Configuration configuration = main.configuration();
    List<Lake> lakes =
        configuration.lakes().entrySet().stream()
            .map(entry -> Adapters.lake(entry.getKey(), entry.getValue()))
            .toList();
    String name = configuration.state();
    try (Postgres state =
        new Postgres(Adapters.postgres(name, configuration.postgres().get(name)))) {
      change.accept(new StateByHand(state, lakes));
    } finally {
      lakes.forEach(Lake::close);
    }
  }
}
