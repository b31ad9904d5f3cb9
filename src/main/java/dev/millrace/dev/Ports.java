package dev.millrace.dev;

import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;

/** TCP ports on 127.0.0.1. Stateless. */
final class Ports {
  /** The address that all parts of the stack listen on, and no other. */
  static final String HOST = "127.0.0.1";

  private static final int CONNECT_MILLIS = 1000;

  private Ports() {}

  /**
   * Returns the port to listen on.
   *
   * @param port the wanted port, or 0 for any that is free
   * @param what who will listen, for the message
   * @param option how another port is chosen, for the message
   * @throws MillraceException {@code STACK_FAILED} when the wanted port is in use
   */
  static int choose(int port, String what, String option) {
    try (ServerSocket socket = new ServerSocket()) {
      // As the servers do: connections of an earlier server that linger are no hindrance.
      socket.setReuseAddress(true);
      socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
      return socket.getLocalPort();
    } catch (IOException e) {
      throw new MillraceException(
          ErrorCode.STACK_FAILED,
          "Port "
              + port
              + " for "
              + what
              + " can't be used ("
              + e.getMessage()
              + "); end what listens there, or choose another port with "
              + option,
          e);
    }
  }

  /**
   * Returns the port to listen on; any that is free is the same one over restarts, while it is
   * free.
   *
   * @param memory the file that keeps it
   * @param port the wanted port, or 0 for any that is free
   * @param what who will listen, for the message
   * @param option how another port is chosen, for the message
   * @throws MillraceException {@code STACK_FAILED} when the wanted port is in use
   */
  static int chooseAgain(Path memory, int port, String what, String option) {
    int wanted = port;
    if (port == 0 && Files.exists(memory)) {
      int earlier = Integer.parseInt(Folders.read(memory));
      wanted = answers(earlier) ? 0 : earlier;
    }
    int chosen = choose(wanted, what, option);
    Folders.writePrivate(memory, chosen + "\n");
    return chosen;
  }

  /** Returns whether somebody listens on the port. */
  static boolean answers(int port) {
    try (Socket socket = new Socket()) {
      socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), CONNECT_MILLIS);
      return true;
    } catch (IOException e) {
      return false;
    }
  }
}
