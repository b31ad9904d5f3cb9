package dev.millrace.postgres;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * A TCP proxy that can stop forwarding what its open connections carry, without closing them; new
 * connections work.
 */
final class Silencer implements AutoCloseable {
  private final ServerSocket listener;
  private final int target;
  private final List<Link> links = new CopyOnWriteArrayList<>();

  private static final class Link {
    private final Socket client;
    private final Socket server;
    private volatile boolean silent;

    private Link(Socket client, Socket server) {
      this.client = client;
      this.server = server;
    }
  }

  Silencer(int target) throws IOException {
    this.target = target;
    this.listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    start(this::accept);
  }

  int port() {
    return listener.getLocalPort();
  }

  /** Drops all that the connections opened so far would carry from now on. */
  void silence() {
    links.forEach(link -> link.silent = true);
  }

  private void accept() {
    while (!listener.isClosed()) {
      try {
        Link link =
            new Link(listener.accept(), new Socket(InetAddress.getLoopbackAddress(), target));
        links.add(link);
        start(() -> pump(link, link.client, link.server));
        start(() -> pump(link, link.server, link.client));
      } catch (IOException e) {
        return;
      }
    }
  }

  private static void pump(Link link, Socket from, Socket to) {
    try (InputStream in = from.getInputStream();
        OutputStream out = to.getOutputStream()) {
      byte[] buffer = new byte[8192];
      for (int count = in.read(buffer); count >= 0; count = in.read(buffer)) {
        if (link.silent) {
          // Not reading on is what a full network buffer looks like to the sender.
          Thread.currentThread().join();
        }
        out.write(buffer, 0, count);
      }
    } catch (IOException e) {
      // One side is closed, and closing the streams closes the other.
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static void start(Runnable work) {
    Thread thread = new Thread(work, "silencer");
    thread.setDaemon(true);
    thread.start();
  }

  @Override
  public void close() throws IOException {
    listener.close();
    for (Link link : links) {
      link.client.close();
      link.server.close();
    }
  }
}
