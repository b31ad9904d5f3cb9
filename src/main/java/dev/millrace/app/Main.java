package dev.millrace.app;

import dev.millrace.dev.DemoCommand;
import dev.millrace.dev.DevCommand;
import dev.millrace.dev.RehearseCommand;
import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import dev.millrace.failure.Redactor;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.IExecutionExceptionHandler;
import picocli.CommandLine.IParameterExceptionHandler;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.ScopeType;
import picocli.CommandLine.Spec;

/**
 * The program {@code millrace}: a command with subcommands, which reach the configuration through
 * {@link picocli.CommandLine.ParentCommand}.
 *
 * <p>Ends with 0, with 1 for a finding or a failure, with 2 for a call, an input or a configuration
 * that has to be changed first. Not thread-safe; one object serves one call.
 */
@Command(
    name = "millrace",
    description = "A Temporal worker that moves data and publishes it safely.",
    mixinStandardHelpOptions = true,
    versionProvider = Main.Version.class,
    synopsisSubcommandLabel = "COMMAND",
    sortOptions = false)
public final class Main implements Runnable {
  static final int FAILURE = 1;
  static final int USAGE = 2;

  private static final Path DEFAULT_FILE = Path.of("millrace.yaml");
  private static final String FILE_VARIABLE = "MILLRACE_CONFIG";
  private static final String DEBUG_VARIABLE = "MILLRACE_DEBUG";

  private final Map<String, String> environment;

  @Spec private CommandSpec specification;

  @Option(
      names = "--config",
      paramLabel = "FILE",
      scope = ScopeType.INHERIT,
      description = "The configuration; otherwise $MILLRACE_CONFIG, otherwise ./millrace.yaml.")
  private Path file;

  Main(Map<String, String> environment) {
    this.environment = environment;
  }

  /** Runs a command and ends the process with its exit code. */
  public static void main(String[] arguments) {
    System.exit(commandLine(System.getenv(), subcommands()).execute(arguments));
  }

  /** Returns the command with its subcommands and the way their failures are told. */
  static CommandLine commandLine(Map<String, String> environment, List<Object> subcommands) {
    CommandLine commandLine = new CommandLine(new Main(environment));
    // Before the handlers: they are handed down to the subcommands that are there.
    subcommands.forEach(commandLine::addSubcommand);
    return commandLine
        .setParameterExceptionHandler(new UsageProblem())
        .setExecutionExceptionHandler(new Failure(environment));
  }

  private static List<Object> subcommands() {
    return List.of(
        new WorkerCommand(),
        new StateCommand(),
        new VerifyCommand(),
        new FleetCommand(),
        new DevCommand(Main::startWorker),
        new DemoCommand(Main::startWorker),
        new RehearseCommand(Main::startWorker));
  }

  private static Worker startWorker(Path file, Map<String, String> environment) {
    return Worker.start(Configuration.load(file, System.getenv()), environment);
  }

  /** Returns the file of the configuration: the option's, the environment's, or the default. */
  public Path configurationFile() {
    if (file != null) {
      return file;
    }
    String named = environment.get(FILE_VARIABLE);
    return named == null || named.isEmpty() ? DEFAULT_FILE : Path.of(named);
  }

  /**
   * Reads the configuration.
   *
   * @throws MillraceException with {@code BAD_CONFIGURATION}
   */
  public Configuration configuration() {
    return Configuration.load(configurationFile(), environment);
  }

  /** Returns the environment variables of this call. */
  public Map<String, String> environment() {
    return environment;
  }

  @Override
  public void run() {
    throw new ParameterException(specification.commandLine(), "a command is missing");
  }

  /** The version that the jar was built with. */
  static final class Version implements IVersionProvider {
    @Override
    public String[] getVersion() {
      String version = Main.class.getPackage().getImplementationVersion();
      return new String[] {"millrace " + (version == null ? "(not packaged)" : version)};
    }
  }

  private static final class UsageProblem implements IParameterExceptionHandler {
    @Override
    public int handleParseException(ParameterException exception, String[] arguments) {
      CommandLine commandLine = exception.getCommandLine();
      PrintWriter errors = commandLine.getErr();
      errors.println("millrace: " + Redactor.redact(exception.getMessage()));
      commandLine.usage(errors);
      return USAGE;
    }
  }

  private record Failure(Map<String, String> environment) implements IExecutionExceptionHandler {
    @Override
    public int handleExecutionException(
        Exception exception, CommandLine commandLine, ParseResult parseResult) {
      PrintWriter errors = commandLine.getErr();
      if (exception instanceof MillraceException failure) {
        errors.println("millrace: " + failure.code() + ": " + failure.getMessage());
      } else {
        errors.println(
            "millrace: %s: %s; MILLRACE_DEBUG=1 shows where"
                .formatted(ErrorCode.INTERNAL, Redactor.redact(exception.toString())));
      }
      if (!environment.getOrDefault(DEBUG_VARIABLE, "").isEmpty()) {
        StringWriter trace = new StringWriter();
        exception.printStackTrace(new PrintWriter(trace));
        errors.print(Redactor.redact(trace.toString()));
      }
      errors.flush();
      return exitCode(exception, commandLine);
    }

    private static int exitCode(Exception exception, CommandLine commandLine) {
      if (exception instanceof MillraceException failure
          && (failure.code() == ErrorCode.BAD_CONFIGURATION
              || failure.code() == ErrorCode.BAD_INPUT)) {
        return USAGE;
      }
      // FAILURE, but for commands of which 1 is a finding.
      return commandLine.getCommandSpec().exitCodeOnExecutionException();
    }
  }
}
