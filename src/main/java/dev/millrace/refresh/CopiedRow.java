package dev.millrace.refresh;

import dev.millrace.postgres.CopyOut;
import dev.millrace.postgres.Postgres;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/**
 * The one row of a query that may work for long before it answers: it is read by COPY, during which
 * the server may be silent for as long as it works. For one thread.
 */
final class CopiedRow implements CopyOut.Rows {
  private static final int HEADER = 19;

  private final Runnable waiting;
  private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

  private CopiedRow(Runnable waiting) {
    this.waiting = waiting;
  }

  /**
   * Reads the row; to be called inside {@code Postgres.read}.
   *
   * @param query a SELECT that gives one row of text and arrays of text
   * @param waiting called about once a second; may throw to stop the query
   * @return each field as a list: of itself, or of the array's elements, which may be null
   */
  static List<List<String>> of(
      Postgres postgres, Connection connection, String query, Runnable waiting)
      throws SQLException {
    CopiedRow row = new CopiedRow(waiting);
    postgres.copy(connection, query, row);
    return row.fields();
  }

  @Override
  public void accept(byte[] data, int offset, int length) {
    bytes.write(data, offset, length);
  }

  @Override
  public void waiting() {
    waiting.run();
  }

  private List<List<String>> fields() {
    ByteBuffer wire = ByteBuffer.wrap(bytes.toByteArray());
    wire.position(HEADER);
    int count = wire.getShort();
    List<List<String>> fields = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      byte[] field = new byte[wire.getInt()];
      wire.get(field);
      // The text of a figure begins with no zero byte, an array's number of dimensions does.
      fields.add(field.length > 0 && field[0] == 0 ? elements(field) : List.of(text(field)));
    }
    return fields;
  }

  /** Dimensions, whether there are NULLs, the elements' type; the dimension's size and start. */
  private static List<String> elements(byte[] array) {
    ByteBuffer wire = ByteBuffer.wrap(array);
    List<String> elements = new ArrayList<>();
    if (wire.getInt() == 0) {
      return elements;
    }
    int count = wire.getInt(3 * Integer.BYTES);
    wire.position(5 * Integer.BYTES);
    for (int i = 0; i < count; i++) {
      int length = wire.getInt();
      if (length < 0) {
        elements.add(null);
        continue;
      }
      byte[] element = new byte[length];
      wire.get(element);
      elements.add(text(element));
    }
    return elements;
  }

  private static String text(byte[] utf8) {
    return new String(utf8, StandardCharsets.UTF_8);
  }
}
