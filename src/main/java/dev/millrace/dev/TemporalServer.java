package dev.millrace.dev;

import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import io.grpc.Channel;
import io.grpc.StatusRuntimeException;
import io.temporal.api.enums.v1.IndexedValueType;
import io.temporal.api.operatorservice.v1.AddSearchAttributesRequest;
import io.temporal.api.operatorservice.v1.ListSearchAttributesRequest;
import io.temporal.api.operatorservice.v1.OperatorServiceGrpc;
import io.temporal.api.workflowservice.v1.DescribeNamespaceRequest;
import io.temporal.serviceclient.WorkflowServiceStubs;
import io.temporal.serviceclient.WorkflowServiceStubsOptions;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * A Temporal server on 127.0.0.1 that has the namespace {@code default} and Millrace's search
 * attributes.
 *
 * <p>The real one, {@code temporal server start-dev}, keeps its workflows in a file and ends with
 * this JVM, however that ends. Where no Temporal CLI can be had, it is the test server of the Java
 * SDK inside this JVM: without UI, schedules and lists of workflows, and without memory over
 * restarts. Thread-safe.
 */
public final class TemporalServer implements AutoCloseable {
  /** The namespace, which is there from the start. */
  public static final String NAMESPACE = "default";

  private static final String NAME = "Temporal";
  private static final String PORT_OPTION = "--temporal-port";
  private static final String UI_PORT_OPTION = "--ui-port";
  private static final List<String> SEARCH_ATTRIBUTES =
      List.of("MillracePipeline", "MillraceTable", "MillraceState");
  private static final List<String> SIGNALS = List.of("TERM", "KILL");
  private static final Duration START_BOUND = Duration.ofMinutes(2);
  private static final long CALL_SECONDS = 5;

  private final int port;
  private final Optional<Real> real;
  private final Optional<InJvm> inJvm;

  private TemporalServer(int port, Optional<Real> real, Optional<InJvm> inJvm) {
    this.port = port;
    this.real = real;
    this.inJvm = inJvm;
  }

  private record Real(Path cli, int uiPort, ProcessGuard guard) {}

  private record InJvm(InJvmTemporal server, String reason) {}

  /**
   * Starts the server and waits until it answers and has the search attributes.
   *
   * @param folder where workflows and log are kept; made when missing
   * @param port the gRPC port, or 0 for any that is free
   * @param uiPort the port of the UI, or 0 for any that is free
   * @param environment where the Temporal CLI is looked for: {@code PATH}, {@code MILLRACE_CACHE},
   *     {@code MILLRACE_PIP}
   * @param progress is told what takes long
   * @return the server, ready
   * @throws MillraceException {@code STACK_FAILED} when it can't be started, with the cause
   */
  public static TemporalServer start(
      Path folder,
      int port,
      int uiPort,
      Map<String, String> environment,
      Consumer<String> progress) {
    Path home = Folders.create(folder.toAbsolutePath().normalize());
    Path cli;
    try {
      cli = TemporalCli.find(environment, progress);
    } catch (MillraceException e) {
      return startInJvm(port, e.getMessage());
    }
    return startReal(home, port, uiPort, cli);
  }

  /** Returns host and port of the gRPC service. */
  public String address() {
    return Ports.HOST + ":" + port;
  }

  /** Returns the namespace: always {@link #NAMESPACE}. */
  public String namespace() {
    return NAMESPACE;
  }

  /** Returns the address of the UI; empty for the server inside this JVM. */
  public Optional<URI> ui() {
    return real.map(server -> URI.create("http://" + Ports.HOST + ":" + server.uiPort()));
  }

  /** Returns the path of the Temporal CLI in use; empty when none can be had. */
  public Optional<Path> cli() {
    return real.map(Real::cli);
  }

  /** Returns whether it is the real server, not the one inside this JVM. */
  public boolean isReal() {
    return real.isPresent();
  }

  /** Returns in one line why it is not the real server; empty when it is. */
  public Optional<String> reason() {
    return inJvm.map(InJvm::reason);
  }

  /**
   * Returns what completes with an exit code when the real server has ended, for whatever reason;
   * for the one inside this JVM it never does.
   */
  public CompletableFuture<Integer> ended() {
    return real.map(server -> server.guard().ended()).orElseGet(CompletableFuture::new);
  }

  /** Returns what to tell when the real server ended on its own. */
  String lastWords() {
    return real.map(server -> server.guard().lastWords()).orElse("");
  }

  /** Ends the server and waits until it is gone. */
  @Override
  public void close() {
    real.ifPresent(server -> server.guard().close());
    inJvm.ifPresent(server -> server.server().close());
  }

  private static TemporalServer startReal(Path home, int port, int uiPort, Path cli) {
    Path database = home.resolve("temporal.db");
    Leftovers.end(
        NAME,
        SIGNALS,
        (pid, seen) ->
            seen.program().equals("temporal") && seen.arguments().contains(database.toString()));
    int chosen = Ports.choose(port, NAME, PORT_OPTION);
    int chosenUi = Ports.choose(uiPort, "Temporal's UI", UI_PORT_OPTION);
    List<String> command = new ArrayList<>();
    command.addAll(List.of(cli.toString(), "server", "start-dev", "--ip", Ports.HOST));
    command.addAll(List.of("--port", "" + chosen, "--ui-port", "" + chosenUi));
    command.addAll(List.of("--db-filename", database.toString()));
    command.addAll(List.of("--log-level", "warn", "--ui-disable-news-fetch"));
    for (String attribute : SEARCH_ATTRIBUTES) {
      command.addAll(List.of("--search-attribute", attribute + "=Keyword"));
    }
    ProcessGuard guard = ProcessGuard.start(NAME, command, SIGNALS, home.resolve("temporal.log"));
    TemporalServer server =
        new TemporalServer(chosen, Optional.of(new Real(cli, chosenUi, guard)), Optional.empty());
    try {
      server.awaitReady();
      return server;
    } catch (RuntimeException e) {
      server.close();
      throw e;
    }
  }

  private static TemporalServer startInJvm(int port, String reason) {
    int chosen = Ports.choose(port, NAME, PORT_OPTION);
    TemporalServer server =
        new TemporalServer(
            chosen, Optional.empty(), Optional.of(new InJvm(InJvmTemporal.start(chosen), reason)));
    try {
      server.awaitReady();
      return server;
    } catch (RuntimeException e) {
      server.close();
      throw e;
    }
  }

  private void awaitReady() {
    // Ports first: a gRPC channel that was refused once pauses for seconds.
    await(this::portsAnswer, () -> "it listens on no port yet");
    WorkflowServiceStubs stubs =
        WorkflowServiceStubs.newServiceStubs(
            WorkflowServiceStubsOptions.newBuilder().setTarget(address()).build());
    try {
      AtomicReference<String> obstacle = new AtomicReference<>("");
      await(() -> namespaceAnswers(stubs, obstacle), obstacle::get);
      if (inJvm.isPresent()) {
        addSearchAttributes(stubs.getRawChannel());
      } else {
        await(() -> searchAttributesAreThere(stubs.getRawChannel(), obstacle), obstacle::get);
      }
    } finally {
      stubs.shutdownNow();
    }
  }

  private void await(BooleanSupplier condition, Supplier<String> obstacle) {
    boolean ready =
        Waiting.until(
            START_BOUND,
            () -> {
              requireAlive();
              return condition.getAsBoolean();
            });
    if (!ready) {
      throw new MillraceException(
          ErrorCode.STACK_FAILED,
          NAME
              + " was not ready within "
              + START_BOUND.toSeconds()
              + " s: "
              + obstacle.get()
              + ". "
              + lastWords());
    }
  }

  private void requireAlive() {
    if (real.isPresent() && !real.get().guard().isAlive()) {
      throw new MillraceException(ErrorCode.STACK_FAILED, lastWords());
    }
  }

  private boolean portsAnswer() {
    return Ports.answers(port) && (real.isEmpty() || Ports.answers(real.get().uiPort()));
  }

  private static boolean namespaceAnswers(
      WorkflowServiceStubs stubs, AtomicReference<String> obstacle) {
    try {
      stubs
          .blockingStub()
          .withDeadlineAfter(CALL_SECONDS, TimeUnit.SECONDS)
          .describeNamespace(DescribeNamespaceRequest.newBuilder().setNamespace(NAMESPACE).build());
      return true;
    } catch (StatusRuntimeException e) {
      obstacle.set("namespace " + NAMESPACE + ": " + e.getStatus());
      return false;
    }
  }

  private static boolean searchAttributesAreThere(
      Channel channel, AtomicReference<String> obstacle) {
    try {
      Set<String> there =
          OperatorServiceGrpc.newBlockingStub(channel)
              .withDeadlineAfter(CALL_SECONDS, TimeUnit.SECONDS)
              .listSearchAttributes(
                  ListSearchAttributesRequest.newBuilder().setNamespace(NAMESPACE).build())
              .getCustomAttributesMap()
              .keySet();
      obstacle.set("it has the search attributes " + there + " only");
      return there.containsAll(SEARCH_ATTRIBUTES);
    } catch (StatusRuntimeException e) {
      obstacle.set("search attributes: " + e.getStatus());
      return false;
    }
  }

  private static void addSearchAttributes(Channel channel) {
    AddSearchAttributesRequest.Builder request =
        AddSearchAttributesRequest.newBuilder().setNamespace(NAMESPACE);
    for (String attribute : SEARCH_ATTRIBUTES) {
      request.putSearchAttributes(attribute, IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD);
    }
    try {
      OperatorServiceGrpc.newBlockingStub(channel)
          .withDeadlineAfter(CALL_SECONDS, TimeUnit.SECONDS)
          .addSearchAttributes(request.build());
    } catch (StatusRuntimeException e) {
      throw new MillraceException(
          ErrorCode.STACK_FAILED,
          "Temporal's server in this JVM refused the search attributes: " + e.getStatus(),
          e);
    }
  }
}
