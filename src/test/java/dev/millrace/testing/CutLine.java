package dev.millrace.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** A way to a server of this host that can be cut, and mended again. Thread-safe. */
public final class CutLine implements AutoCloseable {
  private final ServerSocket listener;
  private final int target;
  private final List<Socket> sockets = new CopyOnWriteArrayList<>();
  private volatile boolean cut;

  /** Opens a way to a port. */
  public CutLine(int target) {
    this.target = target;
    try {
      this.listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    } catch (IOException exception) {
      throw new UncheckedIOException(exception);
    }
    start(this::accept);
  }

  /** Returns the port on which the server is reached. */
  public int port() {
    return listener.getLocalPort();
  }

  /** Ends all connections, and each new one at once. */
  public void cut() {
    cut = true;
    sockets.forEach(CutLine::close);
    sockets.clear();
  }

  /** Lets new connections through. */
  public void mend() {
    cut = false;
  }

  private void accept() {
    while (!listener.isClosed()) {
      try {
        Socket client = listener.accept();
        if (cut) {
          close(client);
          continue;
        }
        Socket server = new Socket(InetAddress.getLoopbackAddress(), target);
        sockets.add(client);
        sockets.add(server);
        start(() -> pump(client, server));
        start(() -> pump(server, client));
      } catch (IOException exception) {
        // Closed, or the server is away: nothing goes through.
      }
    }
  }

  private static void pump(Socket from, Socket to) {
    try {
      from.getInputStream().transferTo(to.getOutputStream());
    } catch (IOException exception) {
      // Cut.
    } finally {
      close(from);
      close(to);
    }
  }

  private static void close(Socket socket) {
    try {
      socket.close();
    } catch (IOException exception) {
      // It is gone already.
    }
  }

  private static void start(Runnable task) {
    Thread thread = new Thread(task, "cut-line");
    thread.setDaemon(true);
    thread.start();
  }

  @Override
  public void close() {
    cut();
    try {
      listener.close();
    } catch (IOException exception) {
      throw new UncheckedIOException(exception);
    }
  }
}
