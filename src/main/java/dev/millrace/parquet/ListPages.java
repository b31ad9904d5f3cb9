package dev.millrace.parquet;

import dev.millrace.postgres.Column;
import java.io.IOException;
import java.util.List;
import org.apache.parquet.column.Encoding;
import org.apache.parquet.column.statistics.SizeStatistics;
import org.apache.parquet.column.statistics.Statistics;
import org.apache.parquet.schema.PrimitiveType;

/**
 * A column of LIST: an array, whose elements are handed to the pages of their own type. The wire
 * form is that of {@code array_send} in Postgres' {@code arrayfuncs.c}: numbers of dimensions,
 * whether there are NULLs, and the element's type, then size and lower bound of each dimension,
 * then elements, each as in a row of COPY. Not thread-safe.
 *
 * <p>Definition levels, for d dimensions: 0 is NULL, 1 is {@code {}}, 2d is a NULL among the
 * elements, 2d + 1 a value. A list of a list is never empty or NULL: Postgres' arrays are
 * rectangular.
 */
final class ListPages extends ColumnPages {
  /** A page is cut after the row with which its arrays reach so many bytes of the stream. */
  private static final int PAGE_BYTES = 1 << 20;

  private static final int HEADER = 3 * Integer.BYTES;
  private static final String ARRAYS_TEXT = "read the column as text (arrays: text)";

  private final int dimensions;
  private final ColumnPages elements;
  private final Replacement replacement;
  private final Batch batch = new Batch(1);
  private final Levels repetitions;
  private final Levels definitions;
  private final int[] sizes;
  private long pageBytes;

  /**
   * Makes the column's pages.
   *
   * @param elements takes the values that are not NULL; it cuts no pages
   */
  ListPages(Column column, PrimitiveType type, PageBuffer page, ColumnPages elements) {
    super(column, type, page);
    this.dimensions = column.type().dimensions();
    this.elements = elements;
    this.replacement = Replacement.of(column);
    this.repetitions = new Levels(dimensions);
    this.definitions = new Levels(2 * dimensions + 1);
    this.sizes = new int[dimensions];
  }

  @Override
  void addAll(Batch rows, int index, int from, int to) throws IOException {
    byte[] data = rows.data();
    for (int row = from; row < to; row++) {
      int place = rows.place(index, row);
      if (place == Batch.NULL) {
        addLevels(0, 0);
        addNull();
        continue;
      }
      int length = rows.length(place);
      addArray(data, place, length);
      addPresent();
      pageBytes += length;
      if (pageBytes >= PAGE_BYTES) {
        cut();
      }
    }
  }

  private void addLevels(int repetition, int definition) {
    repetitions.add(repetition);
    definitions.add(definition);
  }

  private void addArray(byte[] data, int place, int length) throws IOException {
    int found = length < HEADER ? -1 : (int) Batch.INT_BE.get(data, place);
    if (found == 0) {
      addLevels(0, 1);
      return;
    }
    if (found < 0 || length < HEADER + found * 2 * Integer.BYTES) {
      throw broken(length);
    }
    if (found != dimensions) {
      throw new ValueException(
          "has %d dimensions, while the column is declared with %d".formatted(found, dimensions),
          ARRAYS_TEXT);
    }
    int position = place + HEADER;
    int count = 1;
    for (int i = 0; i < dimensions; i++) {
      sizes[i] = (int) Batch.INT_BE.get(data, position);
      count = Math.multiplyExact(count, sizes[i]);
      int lowerBound = (int) Batch.INT_BE.get(data, position + Integer.BYTES);
      if (lowerBound != 1) {
        throw new ValueException(
            "has the lower bound %d, while lists begin at 1".formatted(lowerBound), ARRAYS_TEXT);
      }
      position += 2 * Integer.BYTES;
    }
    int end = place + length;
    for (int done = 0; done < count; done += batch.rows()) {
      position = scan(data, position, end, count - done);
      addElements(done);
    }
    if (position != end) {
      throw broken(length);
    }
  }

  private int scan(byte[] data, int from, int end, int most) {
    int position = from;
    batch.start(data);
    while (batch.rows() < most && !batch.isFull()) {
      position = batch.scan(position, end);
      if (position < 0) {
        throw broken(end - from);
      }
    }
    return position;
  }

  private void addElements(int done) throws IOException {
    int count = batch.rows();
    if (replacement != null) {
      replacement.apply(batch, 0, 0, count);
    }
    for (int i = 0; i < count; i++) {
      boolean present = batch.place(0, i) != Batch.NULL;
      addLevels(repetition(done + i), present ? 2 * dimensions + 1 : 2 * dimensions);
    }
    elements.addAll(batch, 0, 0, count);
  }

  /** Returns the level at which the element goes on: 0 in a new row, the innermost in a list. */
  private int repetition(int element) {
    if (element == 0) {
      return 0;
    }
    int level = dimensions;
    int rest = element;
    while (rest % sizes[level - 1] == 0) {
      rest /= sizes[level - 1];
      level--;
    }
    return level;
  }

  private static IllegalStateException broken(int length) {
    return new IllegalStateException("an array of %d bytes that is none".formatted(length));
  }

  @Override
  void putLevels(PageBuffer out) {
    repetitions.put(out);
    definitions.put(out);
  }

  @Override
  int entries() {
    return definitions.size();
  }

  @Override
  int present() {
    return elements.values();
  }

  @Override
  SizeStatistics sizes() {
    return new SizeStatistics(
        type(), elements.unencodedBytes(), repetitions.histogram(), definitions.histogram());
  }

  @Override
  List<ReplacedValues> replaced() {
    return replacement == null ? List.of() : replacement.replaced();
  }

  @Override
  void putValues(PageBuffer out) {
    elements.putValues(out);
  }

  @Override
  Encoding encoding() {
    return elements.encoding();
  }

  @Override
  void updateStatistics(Statistics<?> statistics) {
    elements.updateStatistics(statistics);
  }

  @Override
  void clear() {
    elements.reset();
    repetitions.clear();
    definitions.clear();
    pageBytes = 0;
  }
}
