package dev.millrace.app;

import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.shaded.io.grpc.netty.GrpcSslContexts;
import io.grpc.netty.shaded.io.netty.handler.ssl.SslContext;
import io.grpc.netty.shaded.io.netty.handler.ssl.SslContextBuilder;
import io.temporal.api.operatorservice.v1.ListSearchAttributesRequest;
import io.temporal.api.workflowservice.v1.DescribeNamespaceRequest;
import io.temporal.client.WorkflowClient;
import io.temporal.client.WorkflowClientOptions;
import io.temporal.serviceclient.OperatorServiceStubs;
import io.temporal.serviceclient.OperatorServiceStubsOptions;
import io.temporal.serviceclient.ServiceStubsOptions;
import io.temporal.serviceclient.WorkflowServiceStubs;
import io.temporal.serviceclient.WorkflowServiceStubsOptions;
import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLException;

/** The connection to Temporal that the configuration describes. Thread-safe. */
public final class TemporalConnection implements AutoCloseable {
  private static final int CALL_SECONDS = 10;

  private final Configuration.Temporal settings;
  private final WorkflowServiceStubs service;

  /** Makes a connection; it is opened by the first call. */
  public TemporalConnection(Configuration.Temporal settings) {
    this.settings = settings;
    this.service =
        WorkflowServiceStubs.newServiceStubs(
            apply(WorkflowServiceStubsOptions.newBuilder()).validateAndBuildWithDefaults());
  }

  private <B extends ServiceStubsOptions.Builder<B>> B apply(B builder) {
    builder.setTarget(settings.address());
    settings.apiKey().ifPresent(key -> builder.addApiKey(key::value));
    settings
        .tls()
        .ifPresent(
            tls -> {
              builder.setSslContext(sslContext(tls));
              tls.serverName()
                  .ifPresent(
                      name ->
                          builder.setChannelInitializer(
                              channel -> channel.overrideAuthority(name)));
            });
    return builder;
  }

  private static SslContext sslContext(Configuration.Tls tls) {
    try {
      SslContextBuilder builder = GrpcSslContexts.forClient();
      tls.ca().ifPresent(ca -> builder.trustManager(pem(ca)));
      if (tls.certificate().isPresent()) {
        builder.keyManager(pem(tls.certificate().get()), pem(tls.key().orElseThrow()));
      }
      return builder.build();
    } catch (SSLException | IllegalArgumentException exception) {
      throw new MillraceException(
          ErrorCode.BAD_CONFIGURATION,
          "temporal.tls can't be used: give PEM certificates and an unencrypted PKCS#8 key",
          exception);
    }
  }

  private static InputStream pem(Secret secret) {
    return new ByteArrayInputStream(secret.value().getBytes(StandardCharsets.UTF_8));
  }

  /** Returns a client of the configured namespace. */
  public WorkflowClient client() {
    return WorkflowClient.newInstance(
        service, WorkflowClientOptions.newBuilder().setNamespace(settings.namespace()).build());
  }

  /**
   * Makes sure that the namespace is there.
   *
   * @throws MillraceException with {@code TEMPORAL_UNAVAILABLE}
   */
  public void check() {
    try {
      service
          .blockingStub()
          .withDeadlineAfter(CALL_SECONDS, TimeUnit.SECONDS)
          .describeNamespace(
              DescribeNamespaceRequest.newBuilder().setNamespace(settings.namespace()).build());
    } catch (StatusRuntimeException exception) {
      if (exception.getStatus().getCode() == Status.Code.UNIMPLEMENTED) {
        return;
      }
      throw new MillraceException(
          ErrorCode.TEMPORAL_UNAVAILABLE,
          "Temporal at %s, namespace %s, can't be used: %s; check temporal.address, namespace, tls and api_key"
              .formatted(settings.address(), settings.namespace(), exception.getStatus()),
          exception);
    }
  }

  /**
   * Returns the names of the namespace's own search attributes; none where the server or the user's
   * rights don't tell.
   */
  public Set<String> searchAttributes() {
    OperatorServiceStubs operator =
        OperatorServiceStubs.newServiceStubs(
            apply(OperatorServiceStubsOptions.newBuilder()).validateAndBuildWithDefaults());
    try {
      return operator
          .blockingStub()
          .withDeadlineAfter(CALL_SECONDS, TimeUnit.SECONDS)
          .listSearchAttributes(
              ListSearchAttributesRequest.newBuilder().setNamespace(settings.namespace()).build())
          .getCustomAttributesMap()
          .keySet();
    } catch (StatusRuntimeException exception) {
      return Set.of();
    } finally {
      operator.shutdownNow();
    }
  }

  @Override
  public void close() {
    service.shutdownNow();
    service.awaitTermination(CALL_SECONDS, TimeUnit.SECONDS);
  }
}
