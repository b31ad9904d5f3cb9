package dev.millrace.postgres;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.stream.Collectors;
import org.roaringbitmap.RoaringBitmap;

/**
 * The transactions whose rows a snapshot has shown, from its {@code xmin} on.
 *
 * <p>A snapshot's own list knows top-level transactions only, so it can't tell whether the rows of
 * a savepoint were visible. But a snapshot shows all rows of an id or none, so the ids of rows that
 * were read do tell. Below {@code xmin} all had ended, and nothing need be kept.
 *
 * <p>Not thread-safe. At most {@value #MOST} ids, which are 2 MB or less.
 */
public final class SeenIds {
  /** More ids than this are not kept. */
  public static final int MOST = 1_000_000;

  /** How often the number of ids is looked at, in ids that were new in a row. */
  private static final int CHECKED_EVERY = 4096;

  private final Snapshot snapshot;
  private final RoaringBitmap ids;
  private final int oldest;
  private final int width;

  private int last;
  private int unchecked;
  private boolean tooMany;

  /** Makes an empty set for the rows that a snapshot shows. */
  public SeenIds(Snapshot snapshot) {
    this(snapshot, new RoaringBitmap());
  }

  private SeenIds(Snapshot snapshot, RoaringBitmap ids) {
    if (snapshot.xmax() - snapshot.xmin() > Integer.MAX_VALUE) {
      // Postgres stops before it gets here: half of all ids would be in progress.
      throw new IllegalArgumentException("a snapshot of more than 2^31 ids: " + snapshot);
    }
    this.snapshot = snapshot;
    this.ids = ids;
    this.oldest = (int) snapshot.xmin();
    this.width = (int) (snapshot.xmax() - snapshot.xmin());
    this.last = oldest - 1;
  }

  /**
   * Notes a row.
   *
   * @param id the 32 bits of its {@code xmin}
   */
  public void add(int id) {
    if (id == last) {
      return;
    }
    last = id;
    int offset = id - oldest;
    if (Integer.compareUnsigned(offset, width) >= 0 || tooMany) {
      return;
    }
    ids.add(offset);
    if (++unchecked == CHECKED_EVERY) {
      unchecked = 0;
      limit();
    }
  }

  private void limit() {
    if (ids.getCardinality() > MOST) {
      tooMany = true;
      ids.clear();
    }
  }

  /** Adds those of an earlier snapshot that still matter. */
  public void carry(SeenIds earlier) {
    tooMany |= earlier.tooMany;
    long distance = snapshot.xmin() - earlier.snapshot.xmin();
    earlier.ids.forEach(
        (int offset) -> {
          if (offset >= distance) {
            ids.add((int) (offset - distance));
          }
        });
    limit();
  }

  /** Returns whether there were more than are kept, so that the set is of no use. */
  public boolean tooMany() {
    limit();
    return tooMany;
  }

  /** Returns whether no id is noted. */
  public boolean isEmpty() {
    return ids.isEmpty();
  }

  /** Returns whether the rows of a transaction, given by its 64-bit id, were shown. */
  public boolean contains(long id) {
    long offset = id - snapshot.xmin();
    return offset >= 0 && offset < width && ids.contains((int) offset);
  }

  /** Returns the 32-bit ids as Postgres writes the elements of an array: {@code {731,733}}. */
  public String array() {
    return ids.stream()
        .mapToObj(offset -> Integer.toUnsignedString(oldest + offset))
        .collect(Collectors.joining(",", "{", "}"));
  }

  /**
   * Returns the set in the <a href="https://github.com/RoaringBitmap/RoaringFormatSpec">Roaring
   * format</a>, as distances from the snapshot's {@code xmin}.
   */
  public byte[] encode() {
    ids.runOptimize();
    ByteArrayOutputStream bytes = new ByteArrayOutputStream(ids.serializedSizeInBytes());
    try (DataOutputStream out = new DataOutputStream(bytes)) {
      ids.serialize(out);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return bytes.toByteArray();
  }

  /** Reads what {@link #encode} returned. */
  public static SeenIds decode(Snapshot snapshot, byte[] bytes) {
    RoaringBitmap ids = new RoaringBitmap();
    try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes))) {
      ids.deserialize(in);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return new SeenIds(snapshot, ids);
  }
}
