package dev.millrace.parquet;

import dev.millrace.postgres.Column;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.parquet.bytes.BytesInput;
import org.apache.parquet.column.Encoding;
import org.apache.parquet.column.page.PageWriter;
import org.apache.parquet.column.statistics.SizeStatistics;
import org.apache.parquet.column.statistics.Statistics;
import org.apache.parquet.column.statistics.geospatial.GeospatialStatistics;
import org.apache.parquet.schema.PrimitiveType;

/**
 * Collects the values of one column and cuts them into pages. Not thread-safe.
 *
 * <p>A page is a DATA_PAGE of version 1, which each reader knows: definition levels, then the
 * values that are not NULL.
 */
abstract class ColumnPages {
  private static final GeospatialStatistics NOT_GEOSPATIAL =
      GeospatialStatistics.noopBuilder().build();

  private final Column column;
  private final PrimitiveType type;
  private final PageBuffer page;
  private final Replacement replacement;

  private PageWriter writer;
  private byte[] nulls = new byte[128];
  private int rows;
  private int values;
  private long cutRows;

  /**
   * Makes the column's pages.
   *
   * @param page where a page is put together; shared by the columns of a table
   */
  ColumnPages(Column column, PrimitiveType type, PageBuffer page) {
    this.column = column;
    this.type = type;
    this.page = page;
    this.replacement = column.type().isArray() ? null : Replacement.of(column);
  }

  /** Starts a row group. */
  final void writeTo(PageWriter pageWriter) {
    writer = pageWriter;
  }

  final Column column() {
    return column;
  }

  final PrimitiveType type() {
    return type;
  }

  /** Number of values on the page that are not NULL. */
  final int values() {
    return values;
  }

  /** Number of rows on the page. */
  final int rows() {
    return rows;
  }

  /**
   * Takes the column's values of some rows.
   *
   * @throws RowException when a value can't be held
   */
  final void add(Batch batch, int index, int from, int to) throws IOException {
    long before = cutRows + rows;
    if (replacement != null) {
      replacement.apply(batch, index, from, to);
    }
    try {
      addAll(batch, index, from, to);
    } catch (ValueException e) {
      throw new RowException(from + Math.toIntExact(cutRows + rows - before), e);
    }
  }

  /**
   * Takes the column's values of some rows, in one loop of its own so that the compiler sees the
   * types. Calls {@link #addNull} or {@link #addPresent} once for each row.
   */
  abstract void addAll(Batch batch, int index, int from, int to) throws IOException;

  /** Counts a row with a value. */
  final void addPresent() {
    values++;
    rows++;
  }

  /** Counts a row without a value. */
  final void addNull() {
    int index = rows >> 3;
    if (index >= nulls.length) {
      nulls = Arrays.copyOf(nulls, Math.max(index + 1, nulls.length * 2));
    }
    nulls[index] |= (byte) (1 << (rows & 7));
    rows++;
  }

  /** Appends the page's values, encoded. */
  abstract void putValues(PageBuffer out);

  abstract Encoding encoding();

  abstract void updateStatistics(Statistics<?> statistics);

  /** Number of bytes of the values without their lengths, of a BYTE_ARRAY column. */
  long unencodedBytes() {
    return 0;
  }

  /** Forgets the page's values. */
  abstract void clear();

  /** Ends the page, if there is anything on it. */
  final void cut() throws IOException {
    if (rows == 0) {
      return;
    }
    page.clear();
    putLevels(page);
    Statistics<?> statistics = Statistics.createStats(type);
    statistics.incrementNumNulls(entries() - present());
    putValues(page);
    if (present() > 0) {
      updateStatistics(statistics);
    }
    writer.writePage(
        BytesInput.from(page.array(), 0, page.size()),
        entries(),
        rows,
        statistics,
        sizes(),
        NOT_GEOSPATIAL,
        Encoding.RLE,
        Encoding.RLE,
        encoding());
    cutRows += rows;
    reset();
  }

  /** Forgets what is on the page. */
  final void reset() {
    clear();
    Arrays.fill(nulls, 0, Math.min(nulls.length, (rows >> 3) + 1), (byte) 0);
    rows = 0;
    values = 0;
  }

  /** Number of entries on the page, each with its levels: rows, or elements of lists. */
  int entries() {
    return rows;
  }

  /** Number of entries on the page that are values. */
  int present() {
    return values;
  }

  SizeStatistics sizes() {
    return new SizeStatistics(type, unencodedBytes(), new ArrayList<>(), new ArrayList<>());
  }

  /** Returns what rules have replaced so far; empty for nothing. */
  List<ReplacedValues> replaced() {
    return replacement == null ? List.of() : replacement.replaced();
  }

  /**
   * Puts the definition levels, 1 for a value and 0 for NULL, in the <a
   * href="https://github.com/apache/parquet-format/blob/master/Encodings.md">RLE/bit-packing
   * hybrid</a>: one run when all are equal, else one bit-packed run.
   */
  void putLevels(PageBuffer out) {
    int start = out.extend(Integer.BYTES);
    if (values == rows || values == 0) {
      out.putVarint((long) rows << 1);
      out.putByte(values == 0 ? 0 : 1);
    } else {
      int groups = (rows + 7) / 8;
      out.putVarint((long) groups << 1 | 1);
      int bits = out.extend(groups);
      for (int i = 0; i < groups; i++) {
        out.array()[bits + i] = i < nulls.length ? (byte) ~nulls[i] : (byte) 0xff;
      }
    }
    PageBuffer.INT_LE.set(out.array(), start, out.size() - start - Integer.BYTES);
  }

  /** A value that can't be held, with its row in the batch. */
  static final class RowException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final int row;
    private final String remedy;

    private RowException(int row, ValueException cause) {
      super(cause.getMessage(), cause);
      this.row = row;
      this.remedy = cause.remedy();
    }

    /** Returns what a person can do, as the end of a sentence. */
    String remedy() {
      return remedy;
    }

    int row() {
      return row;
    }
  }
}
