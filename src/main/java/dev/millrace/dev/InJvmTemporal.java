package dev.millrace.dev;

import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import io.grpc.InsecureServerCredentials;
import io.grpc.Server;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.temporal.internal.testservice.GRPCServerHelper;
import io.temporal.internal.testservice.TestServicesStarter;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;

/**
 * The test server of Temporal's Java SDK, in this JVM, with a clock that does not skip.
 *
 * <p>Put together from the SDK's parts, because {@code TestServer.createPortBoundServer} listens on
 * all addresses of the host. Thread-safe.
 */
final class InJvmTemporal implements AutoCloseable {
  private static final long CLOSE_SECONDS = 5;

  private final TestServicesStarter services;
  private final Server server;

  private InJvmTemporal(TestServicesStarter services, Server server) {
    this.services = services;
    this.server = server;
  }

  /**
   * Starts the server on 127.0.0.1.
   *
   * @param port a free port
   * @throws MillraceException {@code STACK_FAILED} when the port can't be used
   */
  static InJvmTemporal start(int port) {
    TestServicesStarter services = new TestServicesStarter(true, 0);
    NettyServerBuilder builder =
        NettyServerBuilder.forAddress(
            new InetSocketAddress(InetAddress.getLoopbackAddress(), port),
            InsecureServerCredentials.create());
    GRPCServerHelper.registerServicesAndHealthChecks(services.getServices(), builder);
    try {
      return new InJvmTemporal(services, builder.build().start());
    } catch (IOException e) {
      services.close();
      throw new MillraceException(
          ErrorCode.STACK_FAILED,
          "Temporal's server in this JVM can't listen on port " + port + ": " + e.getMessage(),
          e);
    }
  }

  @Override
  public void close() {
    // Workers that still poll would hold a gentle shutdown up.
    server.shutdownNow();
    services.close();
    try {
      server.awaitTermination(CLOSE_SECONDS, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
