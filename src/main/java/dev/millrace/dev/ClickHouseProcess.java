package dev.millrace.dev;

import com.sun.jna.Function;
import com.sun.jna.Native;
import com.sun.jna.NativeLibrary;
import com.sun.jna.Pointer;
import java.nio.charset.StandardCharsets;

/**
 * A program of its own that is {@code clickhouse local}, out of a shared library.
 *
 * <p>Arguments: the library, then those of {@code clickhouse local}. Ends with 1 and a message when
 * a statement failed, with 2 when the library can't be used. Its time zone is UTC.
 */
final class ClickHouseProcess {
  private static final int FAILED = 1;
  private static final int UNUSABLE = 2;

  private ClickHouseProcess() {}

  /** Runs until the statements have ended. */
  public static void main(String[] arguments) {
    int status;
    try {
      status = run(arguments);
    } catch (UnsatisfiedLinkError e) {
      System.err.println("The library " + arguments[0] + " can't be used: " + e.getMessage());
      status = UNUSABLE;
    }
    // Not exit: destructors of the library crash the JVM.
    Runtime.getRuntime().halt(status);
  }

  private static int run(String[] arguments) {
    NativeLibrary library = NativeLibrary.getInstance(arguments[0]);
    // Its own configuration of the time zone is only heeded by `clickhouse server`.
    NativeLibrary.getInstance("c").getFunction("setenv").invokeInt(new Object[] {"TZ", "UTC", 1});
    String[] program = arguments.clone();
    program[0] = "clickhouse";
    // chdb_result *chdb_query_cmdline(int argc, char **argv), of the library's header chdb.h.
    Pointer result =
        library
            .getFunction("chdb_query_cmdline")
            .invokePointer(new Object[] {program.length, texts(program)});
    if (result == null) {
      return 0;
    }
    Function error = library.getFunction("chdb_result_error");
    Pointer message = error.invokePointer(new Object[] {result});
    if (message == null) {
      return 0;
    }
    // A stack without names follows.
    System.err.println(message.getString(0).lines().findFirst().orElse(""));
    return FAILED;
  }

  /** Memory that nobody frees: the program reads it until its end. */
  private static Pointer texts(String[] texts) {
    Pointer array = new Pointer(Native.malloc((texts.length + 1L) * Native.POINTER_SIZE));
    for (int i = 0; i < texts.length; i++) {
      byte[] bytes = texts[i].getBytes(StandardCharsets.UTF_8);
      Pointer text = new Pointer(Native.malloc(bytes.length + 1L));
      text.write(0, bytes, 0, bytes.length);
      text.setByte(bytes.length, (byte) 0);
      array.setPointer((long) i * Native.POINTER_SIZE, text);
    }
    array.setPointer((long) texts.length * Native.POINTER_SIZE, null);
    return array;
  }
}
