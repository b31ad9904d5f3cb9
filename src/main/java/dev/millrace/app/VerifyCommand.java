package dev.millrace.app;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.PropertyNamingStrategies;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.millrace.control.Pipeline;
import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import dev.millrace.failure.NearestName;
import dev.millrace.lake.Lake;
import dev.millrace.postgres.Postgres;
import dev.millrace.postgres.TableName;
import dev.millrace.verify.Proof;
import dev.millrace.verify.ProofText;
import dev.millrace.verify.Verification;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;

/** {@code millrace verify}: what a table's lake is worth. */
@Command(
    name = "verify",
    description = {
      "Read a table's lake back, and prove it against Postgres or say what differs.",
      "Changes nothing, and may run beside a run of the pipeline."
    },
    mixinStandardHelpOptions = true,
    sortOptions = false,
    exitCodeOnExecutionException = Main.USAGE,
    exitCodeListHeading = "%nEnds with:%n",
    exitCodeList = {
      "0:proven (with --rows), or all figures agree",
      "1:something differs; the report says what, and what to do",
      "2:could not look: a wrong call, or a state, source or lake that does not answer"
    })
final class VerifyCommand implements Callable<Integer> {
  private static final JsonMapper JSON =
      JsonMapper.builder()
          .propertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE)
          .enable(SerializationFeature.INDENT_OUTPUT)
          .build();

  @ParentCommand private Main main;
  @Spec private CommandSpec specification;

  @Option(names = "--pipeline", required = true, description = "The pipeline.")
  private String pipeline;

  @Option(names = "--table", required = true, description = "The table, as schema.table.")
  private String table;

  @Option(
      names = "--rows",
      description = {
        "Compare each row of each object with the table's rows of now, up to the watermark.",
        "Without it: objects and manifests, bytes, rows in the footers, windows, and counts."
      })
  private boolean rows;

  @Option(
      names = "--source",
      paramLabel = "NAME",
      description = "The connection that the table is read from; otherwise the only one there is.")
  private String source;

  @Option(
      names = "--lake",
      paramLabel = "NAME",
      description = "The lake that it is in; otherwise the one that the state tells.")
  private String lake;

  @Option(names = "--json", description = "Print one JSON object instead of text.")
  private boolean json;

  @Override
  public Integer call() throws JsonProcessingException {
    PrintWriter out = specification.commandLine().getOut();
    Proof proof = prove(specification.commandLine().getErr());
    out.println(json ? JSON.writeValueAsString(proof) : ProofText.of(proof));
    out.flush();
    return switch (proof.verdict()) {
      case PROVEN, PROVEN_BUT_DELETED_ROWS, FIGURES_AGREE -> 0;
      case DIFFERS -> Main.FAILURE;
    };
  }

  private Proof prove(PrintWriter errors) {
    String name = new Pipeline(pipeline).name();
    TableName tableName = TableName.parse(table);
    Configuration configuration = main.configuration();
    String sourceName = source(configuration.postgres().keySet());
    List<Lake> lakes = lakes(configuration);
    String stateName = configuration.state();
    try (Postgres state =
            new Postgres(Adapters.postgres(stateName, configuration.postgres().get(stateName)));
        Postgres connection =
            new Postgres(Adapters.postgres(sourceName, configuration.postgres().get(sourceName)))) {
      return new Verification(
              state,
              connection,
              lakes,
              Path.of(System.getProperty("java.io.tmpdir")),
              line -> {
                errors.println(line);
                errors.flush();
              })
          .prove(name, tableName, rows);
    } finally {
      lakes.forEach(Lake::close);
    }
  }

  private String source(Set<String> names) {
    if (source != null) {
      requireKnown("postgres", source, names);
      return source;
    }
    if (names.size() > 1) {
      throw new MillraceException(
          ErrorCode.BAD_INPUT,
          "the configuration has several connections (%s); name the one that the table is read from with --source"
              .formatted(String.join(", ", names)));
    }
    return names.iterator().next();
  }

  private List<Lake> lakes(Configuration configuration) {
    Map<String, Configuration.LakeStore> stores = configuration.lakes();
    if (lake != null) {
      requireKnown("lakes", lake, stores.keySet());
    }
    return stores.entrySet().stream()
        .filter(entry -> lake == null || lake.equals(entry.getKey()))
        .map(entry -> Adapters.lake(entry.getKey(), entry.getValue()))
        .toList();
  }

  private static void requireKnown(String section, String name, Set<String> names) {
    if (!names.contains(name)) {
      throw new MillraceException(
          ErrorCode.UNKNOWN_CONNECTION,
          names.isEmpty()
              ? "the configuration has no %s".formatted(section)
              : "%s has no '%s'; did you mean %s?"
                  .formatted(section, name, NearestName.of(name, names)));
    }
  }
}
