package dev.millrace.verify;

import dev.millrace.parquet.Form;
import dev.millrace.parquet.ParquetFile;
import dev.millrace.parquet.Values;
import dev.millrace.postgres.Column;
import dev.millrace.postgres.ColumnRules;
import dev.millrace.postgres.ColumnType.Wire;
import dev.millrace.postgres.Identifiers;
import dev.millrace.postgres.Postgres;
import dev.millrace.postgres.Relation;
import dev.millrace.postgres.SelectQuery;
import dev.millrace.postgres.Snapshot;
import dev.millrace.replication.CommittedTable;
import dev.millrace.verify.Finding.Kind;
import dev.millrace.verify.RowComparison.ComparedObject;
import dev.millrace.verify.RowComparison.Difference;
import dev.millrace.verify.RowComparison.Sample;
import dev.millrace.verify.RowComparison.State;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.IntStream;

/**
 * Compares each row of a table's objects with the table's rows of one snapshot, which is taken when
 * the objects have been read: by their hashes, so that memory does not grow with the table.
 *
 * <p>Used once. Not thread-safe.
 */
final class RowProof implements AutoCloseable {
  private static final long TOLD_EVERY = 1_000_000;

  private final TableFolder folder;
  private final TableAtSource source;
  private final Path scratch;
  private final Consumer<String> progress;
  private final Set<String> columns;
  private final List<LakeObject> objects;
  private final int strayFrom;
  private final Shapes shapes;
  private final HashRecords lake;
  private final HashRecords table;
  private final RowHash hash = new RowHash();
  private final List<Finding> findings = new ArrayList<>();
  private final List<PostgresText> texts = new ArrayList<>();

  /**
   * What came out.
   *
   * @param rows figures
   * @param upTo rows of the table up to the watermark
   * @param pending of these, those that the next run takes
   * @param reason why none of them is known to be; null where they are
   */
  record Outcome(
      Proof.Rows rows,
      long upTo,
      long pending,
      String reason,
      List<Finding> findings,
      List<String> notes) {}

  /** What the table's transaction has told. */
  private record Compared(
      RowComparison.Result result, String reason, Map<Difference, List<String>> shown, long upTo) {}

  /**
   * Makes it.
   *
   * @param scratch a folder of its own
   * @param mostHeld numbers that are held in memory for each side
   */
  RowProof(
      TableFolder folder,
      ObjectAudit.Audited audited,
      TableAtSource source,
      Path scratch,
      long mostHeld,
      Consumer<String> progress) {
    this.folder = folder;
    this.source = source;
    this.scratch = scratch;
    this.progress = progress;
    this.columns = source.columns();
    this.objects = new ArrayList<>(readable(audited.windows()));
    this.strayFrom = objects.size();
    this.objects.addAll(readable(audited.strays()));
    this.shapes = Shapes.of(objects, columns, source.primaryKey());
    this.lake = new HashRecords(RowComparison.LAKE_WIDTH, scratch, "lake", mostHeld);
    this.table =
        new HashRecords(
            RowComparison.SOURCE_HEAD + 2 * shapes.shapes().size(), scratch, "table", mostHeld);
  }

  private static List<LakeObject> readable(List<LakeObject> objects) {
    return objects.stream().filter(object -> object.footer() != null).toList();
  }

  Outcome prove(Postgres postgres, CommittedTable committed, ZoneId zone) throws IOException {
    readLake(committed);
    Compared compared =
        postgres.read(connection -> readTable(postgres, connection, committed, zone));
    RowComparison.Result result = compared.result();
    Map<Difference, List<String>> shown = new EnumMap<>(Difference.class);
    shown.putAll(compared.shown());
    showLake(result.samples(), committed.keyColumn(), shown);
    addFindings(result, shown);
    return new Outcome(
        figures(result, shown.getOrDefault(Difference.GONE, List.of())),
        compared.upTo(),
        result.pending(),
        compared.reason(),
        findings,
        notes(result));
  }

  private Proof.Rows figures(RowComparison.Result result, List<String> gone) {
    boolean identified = shapes.identified();
    return new Proof.Rows(
        result.equal(),
        result.missing(),
        result.stale(),
        result.twice(),
        result.again(),
        identified ? result.older() : -1,
        identified ? result.goneRows() : -1,
        result.goneVersions(),
        gone,
        result.above(),
        result.withoutKey(),
        unheld());
  }

  private long unheld() {
    return texts.stream().mapToLong(PostgresText::unheld).sum();
  }

  private void readLake(CommittedTable committed) throws IOException {
    List<String> checksums = new ArrayList<>();
    List<String> outside = new ArrayList<>();
    List<String> unreadable = new ArrayList<>();
    Path file = scratch.resolve("object.parquet");
    for (int i = 0; i < objects.size(); i++) {
      LakeObject object = objects.get(i);
      progress.accept(
          "reading object %,d of %,d: %s, %,d rows"
              .formatted(i + 1, objects.size(), object.key(), object.rows()));
      String checksum = folder.download(object.key(), file);
      if (object.manifest() != null && !object.manifest().sha256().equals(checksum)) {
        checksums.add(object.key());
      }
      LakeRows rows = new LakeRows(i, committed);
      try {
        ParquetFile.rows(file, rows::add);
      } catch (IOException exception) {
        unreadable.add("%s: %s".formatted(object.key(), exception.getMessage()));
      }
      if (rows.outside > 0) {
        outside.add(
            "%s: %,d rows outside %s"
                .formatted(object.key(), rows.outside, object.manifest().window()));
      }
    }
    Files.deleteIfExists(file);
    if (!unreadable.isEmpty()) {
      findings.add(TableFolder.unreadable(unreadable));
    }
    String wayOut =
        "the objects are not what Millrace wrote: put them back from a backup or an older version in the bucket, or load all again (millrace state reset) into an empty folder";
    add(
        Kind.CHECKSUM_DIFFERS,
        checksums.size(),
        "%,d objects do not have the bytes that were written",
        checksums,
        wayOut);
    add(
        Kind.ROWS_OUTSIDE_WINDOW,
        outside.size(),
        "%,d objects have rows that their windows do not have",
        outside,
        wayOut);
  }

  /** The rows of an object on their way into hashes. */
  private final class LakeRows {
    private final int object;
    private final List<Integer> places;
    private final List<Integer> identity;
    private final int key;
    private final KeyPlace window;
    private final long[] record = new long[RowComparison.LAKE_WIDTH];
    private long outside;

    private LakeRows(int object, CommittedTable committed) {
      LakeObject read = objects.get(object);
      int shape = shapes.of(read, columns);
      this.object = object;
      this.places = shapes.places(read, shape);
      this.identity = identity(shape, places);
      this.key = key(read, committed);
      this.window = object < strayFrom && key >= 0 ? new KeyPlace(read.manifest()) : null;
    }

    private void add(Values row) throws IOException {
      hash.put(row, identity, record, 0);
      hash.put(row, places, record, 2);
      record[4] = RowComparison.place(object, isLate(row));
      lake.add(record);
    }

    private boolean isLate(Values row) {
      if (window == null) {
        // Without a key in the object nobody knows; a stray one has no window to be late in.
        return object < strayFrom;
      }
      return switch (window.of(row, key)) {
        case IN_RANGE -> false;
        case LATE -> true;
        case OUTSIDE -> {
          outside++;
          yield false;
        }
      };
    }
  }

  /** Returns where an object has the update key; -1 where it has none that can be compared. */
  private static int key(LakeObject object, CommittedTable committed) {
    for (int i = 0; i < object.footer().columns().size(); i++) {
      boolean comparable =
          object
              .footer()
              .forms()
              .get(i)
              .filter(form -> KeyPlace.comparable(committed.keyKind(), form))
              .isPresent();
      if (comparable && object.footer().columns().get(i).name().equals(committed.keyColumn())) {
        return i;
      }
    }
    return -1;
  }

  /** Returns where the cells that tell a row are in an object's columns. */
  private List<Integer> identity(int shape, List<Integer> places) {
    List<Integer> cells = shapes.shapes().get(shape);
    return shapes.identity().stream().map(cell -> places.get(cells.indexOf(cell))).toList();
  }

  private Compared readTable(
      Postgres postgres, Connection connection, CommittedTable committed, ZoneId zone)
      throws SQLException {
    CommittedTable.Pending pending = committed.pending(connection, source.relation(), zone);
    progress.accept("reading the table");
    String select = select(committed, pending, zone);
    TableRows rows = new TableRows();
    postgres.copyText(connection, select, new TextRows(rows::add));
    progress.accept(
        "comparing %,d rows of the lake with %,d of the table"
            .formatted(lake.records(), table.records()));
    RowComparison.Result result = compare();
    return new Compared(
        result,
        pending.reason(),
        showTable(postgres, connection, select, result.samples(), committed.keyColumn()),
        rows.upTo);
  }

  private RowComparison.Result compare() {
    try {
      return RowComparison.compare(lake, table, shapes.identified(), compared());
    } catch (IOException exception) {
      throw new UncheckedIOException(exception);
    }
  }

  private List<ComparedObject> compared() {
    return IntStream.range(0, objects.size())
        .mapToObj(
            i -> {
              LakeObject object = objects.get(i);
              boolean versioned = i < strayFrom && object.manifest().snapshot() != null;
              return new ComparedObject(
                  shapes.of(object, columns),
                  i >= strayFrom,
                  versioned ? Snapshot.parse(object.manifest().snapshot()).xmin() : 0);
            })
        .toList();
  }

  private String select(CommittedTable committed, CommittedTable.Pending pending, ZoneId zone) {
    Relation relation = source.relation();
    List<Column> wanted = new ArrayList<>();
    for (Shapes.Cell cell : shapes.cells()) {
      Column column = column(relation, cell);
      boolean textAsBytes =
          relation.sqlAscii()
              && column.type().wire() == Wire.TEXT
              && !column.type().isArray()
              && cell.form().kind() == Form.Kind.TEXT;
      wanted.add(column);
      texts.add(new PostgresText(cell.form(), textAsBytes, clamped(cell.name())));
    }
    String state =
        "CASE WHEN %s IS NULL THEN %d WHEN (%s) IS NOT TRUE THEN %d WHEN %s THEN %d ELSE %d END"
            .formatted(
                Identifiers.quote(committed.keyColumn()),
                State.WITHOUT_KEY.number(),
                source.filter().and(committed.upToWatermark(zone)),
                State.ABOVE.number(),
                pending.condition(),
                State.PENDING.number(),
                State.COMMITTED.number());
    return SelectQuery.withMore(
        relation, wanted, List.of(state, pending.versioned() ? "xmin" : "'0'"));
  }

  /** Returns the column as it is read for a form: an array may be in the lake as one text. */
  private static Column column(Relation relation, Shapes.Cell cell) {
    Column column = relation.column(cell.name()).orElseThrow();
    if (!column.type().isArray() || cell.form().depth() > 0) {
      return column;
    }
    ColumnRules rules = ColumnRules.DEFAULT;
    return column.under(
        new ColumnRules(rules.numeric(), rules.nan(), rules.infinity(), ColumnRules.Arrays.TEXT));
  }

  private boolean clamped(String column) {
    return objects.stream()
        .filter(object -> object.manifest() != null)
        .flatMap(object -> object.manifest().replaced().stream())
        .anyMatch(
            replaced -> replaced.column().equals(column) && replaced.rule().endsWith("clamp"));
  }

  /** The rows of the table on their way into hashes. */
  private final class TableRows {
    private final Values values = new Values();
    private final long[] record = new long[table.width()];
    private long rows;
    private long upTo;

    private void add(TextRows row) throws IOException {
      int cells = shapes.cells().size();
      read(row, values);
      State state = State.of(Long.parseLong(row.text(cells)));
      hash.put(values, shapes.identity(), record, 0);
      record[2] = state.number();
      record[3] = Long.parseLong(row.text(cells + 1));
      for (int shape = 0; shape < shapes.shapes().size(); shape++) {
        hash.put(values, shapes.shapes().get(shape), record, RowComparison.SOURCE_HEAD + 2 * shape);
      }
      table.add(record);
      if (state == State.COMMITTED || state == State.PENDING) {
        upTo++;
      }
      if (++rows % TOLD_EVERY == 0) {
        progress.accept("read %,d rows of the table".formatted(rows));
      }
    }
  }

  private void read(TextRows row, Values values) {
    values.clear();
    for (int cell = 0; cell < shapes.cells().size(); cell++) {
      values.column();
      if (row.isNull(cell)) {
        values.putNull();
      } else {
        texts.get(cell).put(row.bytes(), row.start(cell), row.length(cell), values);
      }
    }
  }

  private record Identity(long high, long low) {}

  private static Map<Identity, Difference> wanted(List<Sample> samples, int object) {
    Map<Identity, Difference> wanted = new HashMap<>();
    for (Sample sample : samples) {
      if (sample.object() == object) {
        wanted.put(new Identity(sample.identityHigh(), sample.identityLow()), sample.difference());
      }
    }
    return wanted;
  }

  /** Reads the table once more where rows of it are to be shown; it is the same snapshot. */
  private Map<Difference, List<String>> showTable(
      Postgres postgres,
      Connection connection,
      String select,
      List<Sample> samples,
      String updateKey)
      throws SQLException {
    Map<Difference, List<String>> shown = new EnumMap<>(Difference.class);
    Map<Identity, Difference> wanted = wanted(samples, -1);
    if (wanted.isEmpty()) {
      return shown;
    }
    List<String> cells = shapes.cells().stream().map(Shapes.Cell::name).toList();
    List<String> names = ShownRow.columns(shapes, source.primaryKey(), updateKey);
    long[] unheld = texts.stream().mapToLong(PostgresText::unheld).toArray();
    Values values = new Values();
    long[] identity = new long[2];
    postgres.copyText(
        connection,
        select,
        new TextRows(
            row -> {
              read(row, values);
              hash.put(values, shapes.identity(), identity, 0);
              Difference difference = wanted.remove(new Identity(identity[0], identity[1]));
              if (difference != null) {
                StringBuilder text = new StringBuilder();
                names.forEach(name -> ShownRow.add(text, name, row.text(cells.indexOf(name))));
                shown.computeIfAbsent(difference, any -> new ArrayList<>()).add(text.toString());
              }
            }));
    for (int i = 0; i < unheld.length; i++) {
      texts.get(i).forgetSince(unheld[i]);
    }
    return shown;
  }

  private void showLake(List<Sample> samples, String updateKey, Map<Difference, List<String>> shown)
      throws IOException {
    List<String> names = ShownRow.columns(shapes, source.primaryKey(), updateKey);
    Path file = scratch.resolve("object.parquet");
    for (int i = 0; i < objects.size(); i++) {
      Map<Identity, Difference> wanted = wanted(samples, i);
      if (wanted.isEmpty()) {
        continue;
      }
      LakeObject object = objects.get(i);
      List<Integer> cells = shapes.shapes().get(shapes.of(object, columns));
      List<Integer> places = shapes.places(object, shapes.of(object, columns));
      List<Integer> identityPlaces = identity(shapes.of(object, columns), places);
      long[] identity = new long[2];
      folder.download(object.key(), file);
      try {
        ParquetFile.rows(
            file,
            row -> {
              hash.put(row, identityPlaces, identity, 0);
              Difference difference = wanted.remove(new Identity(identity[0], identity[1]));
              if (difference != null) {
                shown
                    .computeIfAbsent(difference, any -> new ArrayList<>())
                    .add(shown(row, cells, places, names) + " in " + object.key());
              }
            });
      } catch (IOException exception) {
        progress.accept(
            "%s can't be read to its end: %s".formatted(object.key(), exception.getMessage()));
      }
    }
    Files.deleteIfExists(file);
  }

  private String shown(Values row, List<Integer> cells, List<Integer> places, List<String> names) {
    StringBuilder text = new StringBuilder();
    for (String name : names) {
      for (int i = 0; i < cells.size(); i++) {
        Shapes.Cell cell = shapes.cells().get(cells.get(i));
        if (cell.name().equals(name)) {
          ShownRow.add(text, name, ShownRow.value(row, places.get(i), cell.form()));
        }
      }
    }
    return text.toString();
  }

  private void addFindings(RowComparison.Result result, Map<Difference, List<String>> shown) {
    add(
        Kind.ROWS_MISSING,
        result.missing(),
        "%,d rows of the table are not in the lake, and no run takes them",
        shown.get(Difference.MISSING),
        "their keys were set by hand below the look-back, or rows were lost: set their update key to now, or load all again (millrace state reset) into an empty folder");
    add(
        Kind.ROWS_STALE,
        result.stale(),
        "%,d rows of the table are in the lake with other values only, and no run takes them",
        shown.get(Difference.STALE),
        "they were changed without a new update key and below the look-back, or the lake's values are wrong: set their update key to now, or load all again (millrace state reset) into an empty folder");
    add(
        Kind.ROWS_TWICE,
        result.twice(),
        "%,d rows of the lake are there more often than the table can have had them",
        shown.get(Difference.TWICE),
        "move objects that are there twice out of the folder, or load all again (millrace state reset) into an empty folder; where no other finding explains it, please report it");
  }

  private void add(Kind kind, long count, String text, List<String> examples, String wayOut) {
    if (count > 0) {
      findings.add(Finding.of(kind, text, count, examples == null ? List.of() : examples, wayOut));
    }
  }

  private List<String> notes(RowComparison.Result result) {
    List<String> notes = new ArrayList<>(shapes.notes());
    if (unheld() > 0) {
      notes.add(
          "%,d values of the table have no place in their type in the lake, and rules of the run have replaced them; they were compared as replaced"
              .formatted(unheld()));
    }
    if (!shapes.identified()) {
      notes.add(
          source.primaryKey().isEmpty()
              ? "the table has no primary key, so older versions can't be told from deleted rows"
              : "the primary key is not in all objects, so older versions can't be told from deleted rows");
    }
    if (result.again() > 0) {
      notes.add(
          "%,d rows of the lake came late with the content of an earlier one; an UPDATE that changes nothing makes such versions"
              .formatted(result.again()));
    }
    if (result.withoutKey() > 0) {
      notes.add(
          "%,d rows of the table have no update key, and no window takes them"
              .formatted(result.withoutKey()));
    }
    return notes;
  }

  @Override
  public void close() throws IOException {
    lake.close();
    table.close();
  }
}
