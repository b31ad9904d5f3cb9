package dev.millrace.verify;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import dev.millrace.parquet.FileFormat;
import dev.millrace.postgres.ColumnRules;
import dev.millrace.postgres.Postgres;
import dev.millrace.postgres.RowFilter;
import dev.millrace.postgres.TableName;
import dev.millrace.replication.DirectRuns;
import dev.millrace.replication.DirectRuns.Asked;
import dev.millrace.testing.TestPostgres;
import dev.millrace.verify.Finding.Kind;
import dev.millrace.verify.Proof.Verdict;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.UnaryOperator;
import org.apache.parquet.format.FileMetaData;
import org.apache.parquet.format.Util;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Lakes that are what they should be, and lakes that are not. */
class VerificationIT {
  private static final String TABLE = "shop.parcel";
  private static final Asked ASKED = Asked.of("parcels", TABLE, "at");

  @TempDir private Path folder;
  @TempDir private Path scratch;
  private String database;
  private Postgres source;
  private DirectRuns runs;

  @BeforeEach
  void open() {
    database = TestPostgres.createDatabase();
    source = new Postgres(TestPostgres.settings(database));
    // As many row groups as there are segments.
    runs =
        new DirectRuns(
            database,
            folder,
            source,
            new FileFormat(FileFormat.Compression.ZSTD, 1, 1),
            UnaryOperator.identity());
    runs.execute("CREATE SCHEMA shop");
  }

  @AfterEach
  void close() throws IOException {
    runs.close();
    source.close();
    try (var left = Files.list(scratch)) {
      assertThat(left).as("files of a moment").isEmpty();
    }
  }

  private void parcels(int rows) {
    runs.execute(
        """
        CREATE TABLE shop.parcel (id bigint PRIMARY KEY, price numeric(12,2), note text,
          at timestamptz);
        CREATE INDEX ON shop.parcel (at);
        INSERT INTO shop.parcel
        SELECT i, i / 7.0, 'parcel ' || i, now() - interval '2 hours' + i * interval '1 millisecond'
        FROM generate_series(1, %d) i"""
            .formatted(rows));
  }

  private Proof figures() {
    return prove(ASKED, false, HashRecords.MOST_HELD);
  }

  private Proof rows() {
    return prove(ASKED, true, HashRecords.MOST_HELD);
  }

  private Proof prove(Asked asked, boolean rows, long mostHeld) {
    List<String> said = new ArrayList<>();
    Proof proof =
        new Verification(runs.state(), source, List.of(runs.lake()), scratch, mostHeld, said::add)
            .prove(asked.pipeline(), asked.table(), rows);
    assertThat(ProofText.of(proof)).contains(asked.pipeline(), proof.watermark());
    return proof;
  }

  private static List<Kind> kinds(Proof proof) {
    return proof.findings().stream().map(Finding::kind).toList();
  }

  private Finding only(Proof proof, Kind kind) {
    assertThat(kinds(proof)).containsExactly(kind);
    assertThat(proof.verdict()).isEqualTo(Verdict.DIFFERS);
    return proof.findings().get(0);
  }

  @Test
  void rowsThatTheFilterLeavesOutAreNotMissed() {
    parcels(100);
    runs.filter(
        "shop.parcel",
        new RowFilter.Condition("id", RowFilter.Operator.LESS_OR_EQUAL, List.of("60")));
    assertThat(runs.run(ASKED).result().rows()).isEqualTo(60);
    // A copy of it stays in the lake, though it does not pass any more.
    runs.execute("UPDATE shop.parcel SET id = 1000 WHERE id = 7");

    assertThat(figures().verdict()).isEqualTo(Verdict.FIGURES_AGREE);
    Proof proof = rows();
    assertThat(proof.findings()).isEmpty();
    assertThat(proof.verdict()).isEqualTo(Verdict.PROVEN_BUT_DELETED_ROWS);
    assertThat(proof.notes().toString()).contains("\"id\" <= '60'");

    runs.execute("INSERT INTO shop.parcel SELECT 0, 1, 'by hand', now() - interval '9 days'");
    only(rows(), Kind.ROWS_MISSING);
  }

  private Path manifest(Path object) {
    return object
        .resolveSibling("_manifest")
        .resolve(object.getFileName().toString().replace(".parquet", ".json"));
  }

  @Test
  void aLakeOfSeveralWindowsIsProven() {
    parcels(1_000);
    runs.run(ASKED.cutAt(300));
    runs.execute(
        """
        UPDATE shop.parcel SET price = price + 1, at = clock_timestamp() WHERE id <= 100;
        INSERT INTO shop.parcel VALUES (2000, 1, NULL, now() - interval '1 hour')""");
    runs.run(ASKED);
    // A run without rows has no object.
    runs.run(ASKED);
    runs.execute("UPDATE shop.parcel SET note = NULL, at = clock_timestamp() WHERE id <= 10");
    runs.run(ASKED);

    Proof figures = figures();
    assertThat(figures.verdict()).isEqualTo(Verdict.FIGURES_AGREE);
    assertThat(figures.objects()).isEqualTo(6);
    assertThat(figures.rowsInLake()).isEqualTo(1_111);
    assertThat(figures.rowsAtSource()).isEqualTo(1_001);
    assertThat(figures.rows()).isNull();

    Proof rows = rows();
    assertThat(rows.findings()).isEmpty();
    assertThat(rows.verdict()).isEqualTo(Verdict.PROVEN);
    assertThat(rows.rows().equal()).isEqualTo(1_001);
    assertThat(rows.rows().olderVersions()).isEqualTo(110);
    assertThat(rows.rows().aboveWatermark()).isZero();
  }

  @Test
  void rowsThatTheNextRunTakesAreNotMissing() {
    parcels(10);
    runs.run(ASKED);
    runs.execute(
        """
        INSERT INTO shop.parcel VALUES (11, 1, 'late', now() - interval '1 hour');
        UPDATE shop.parcel SET note = 'its key stays' WHERE id = 1;
        UPDATE shop.parcel SET at = now() + interval '1 hour' WHERE id = 2""");

    Proof rows = rows();

    assertThat(rows.verdict()).isEqualTo(Verdict.PROVEN);
    assertThat(rows.pending()).isEqualTo(2);
    assertThat(rows.rowsAtSource()).isEqualTo(10);
    assertThat(rows.rows().equal()).isEqualTo(8);
    assertThat(rows.rows().aboveWatermark()).isEqualTo(1);
    assertThat(rows.rows().olderVersions()).isEqualTo(2);
    assertThat(figures().verdict()).isEqualTo(Verdict.FIGURES_AGREE);

    runs.run(ASKED);
    assertThat(rows().rows().equal()).isEqualTo(10);
  }

  @Test
  void case17DeletedRowsAreReportedAndNoParityIsClaimedForThem() {
    parcels(5);
    runs.run(ASKED);
    runs.execute("DELETE FROM shop.parcel WHERE id = 3");
    runs.run(ASKED);

    Proof rows = rows();

    assertThat(rows.verdict()).isEqualTo(Verdict.PROVEN_BUT_DELETED_ROWS);
    assertThat(rows.rows().equal()).isEqualTo(4);
    assertThat(rows.rows().deletedRows()).isEqualTo(1);
    assertThat(rows.rows().deletedVersions()).isEqualTo(1);
    assertThat(rows.rows().deletedExamples()).singleElement().asString().startsWith("id=3, at=");
    assertThat(ProofText.of(rows))
        .contains("deletes are not tracked", "no parity is claimed", "id=3");
  }

  @Test
  void keysSetByHandBelowTheLookBackAreFound() {
    parcels(5);
    runs.run(ASKED);
    runs.execute(
        """
        INSERT INTO shop.parcel VALUES (77, 1, 'by hand', now() - interval '3 days');
        UPDATE shop.parcel SET at = now() - interval '4 days' WHERE id = 2""");
    runs.run(ASKED);

    Finding missing =
        rows().findings().stream()
            .filter(finding -> finding.kind() == Kind.ROWS_MISSING)
            .findFirst()
            .orElseThrow();
    assertThat(missing.text()).startsWith("1 rows");
    assertThat(missing.examples()).singleElement().asString().startsWith("id=77, at=");
    assertThat(kinds(rows())).containsExactly(Kind.ROWS_MISSING, Kind.ROWS_STALE);
    only(figures(), Kind.FEWER_ROWS_THAN_SOURCE);
  }

  @Test
  void rowsChangedBelowTheLookBackAreFound() {
    parcels(5);
    Asked short1 = ASKED.lookingBack("PT1M", 1);
    runs.run(short1);
    runs.execute("UPDATE shop.parcel SET note = 'in silence' WHERE id = 4");
    runs.run(short1);

    Finding stale = only(rows(), Kind.ROWS_STALE);

    assertThat(stale.examples()).singleElement().asString().startsWith("id=4, ");
  }

  @Test
  void anUpdateThatChangesNothingIsNoDouble() {
    parcels(5);
    runs.run(ASKED);
    runs.execute("UPDATE shop.parcel SET note = note WHERE id = 4");
    runs.run(ASKED);

    Proof rows = rows();

    assertThat(rows.verdict()).isEqualTo(Verdict.PROVEN);
    assertThat(rows.rows().again()).isEqualTo(1);
    assertThat(rows.rows().twice()).isZero();
  }

  @Test
  void rowsThatARunTookTwiceAreFound() {
    String before = runs.value("SELECT pg_snapshot_xmin(pg_current_snapshot())");
    parcels(50);
    runs.run(ASKED);
    // As if the first run's snapshot had not shown its rows.
    runs.execute("UPDATE millrace.reading SET snapshot = '%1$s:%1$s'".formatted(before));
    runs.run(ASKED);
    assertThat(runs.objects(TABLE)).hasSize(2);

    Proof rows = rows();

    Finding twice = only(rows, Kind.ROWS_TWICE);
    assertThat(rows.rows().twice()).isEqualTo(50);
    assertThat(rows.rows().equal()).isEqualTo(50);
    assertThat(twice.examples())
        .hasSize(6)
        .first()
        .asString()
        .contains("id=", runs.objects(TABLE).get(1).getFileName().toString());
    assertThat(figures().verdict()).isEqualTo(Verdict.FIGURES_AGREE);
  }

  @Test
  void case93ALostRowGroupIsFound() throws IOException {
    parcels(60_000);
    runs.run(ASKED);
    Path object = runs.objects(TABLE).get(0);
    removeRowGroup(object);

    assertThat(kinds(figures()))
        .containsExactly(Kind.BYTES_DIFFER, Kind.ROWS_DIFFER, Kind.FEWER_ROWS_THAN_SOURCE);
    Proof rows = rows();
    assertThat(kinds(rows))
        .containsExactly(
            Kind.BYTES_DIFFER, Kind.ROWS_DIFFER, Kind.CHECKSUM_DIFFERS, Kind.ROWS_MISSING);
    assertThat(rows.rows().missing()).isEqualTo(20_000);
    assertThat(rows.rows().equal()).isEqualTo(40_000);
  }

  private static void removeRowGroup(Path object) throws IOException {
    byte[] bytes = Files.readAllBytes(object);
    int length = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).getInt(bytes.length - 8);
    int start = bytes.length - 8 - length;
    FileMetaData footer =
        Util.readFileMetaData(
            new ByteArrayInputStream(Arrays.copyOfRange(bytes, start, start + length)));
    assertThat(footer.getRow_groups()).hasSize(3);
    footer.getRow_groups().remove(1);
    footer.setNum_rows(40_000);
    ByteArrayOutputStream changed = new ByteArrayOutputStream();
    changed.write(bytes, 0, start);
    Util.writeFileMetaData(footer, changed);
    changed.write(
        ByteBuffer.allocate(4)
            .order(ByteOrder.LITTLE_ENDIAN)
            .putInt(changed.size() - start)
            .array());
    changed.write("PAR1".getBytes(StandardCharsets.US_ASCII));
    Files.write(object, changed.toByteArray());
  }

  @Test
  void aChangedByteIsFound() throws IOException {
    parcels(100);
    runs.run(ASKED);
    Path object = runs.objects(TABLE).get(0);
    byte[] bytes = Files.readAllBytes(object);
    bytes[40] ^= 1;
    Files.write(object, bytes);

    assertThat(figures().verdict()).isEqualTo(Verdict.FIGURES_AGREE);
    assertThat(kinds(rows())).contains(Kind.CHECKSUM_DIFFERS);
    assertThat(rows().verdict()).isEqualTo(Verdict.DIFFERS);
  }

  @Test
  void anObjectThatIsNoParquetIsFound() throws IOException {
    parcels(100);
    runs.run(ASKED);
    Path object = runs.objects(TABLE).get(0);
    Files.write(object, new byte[(int) Files.size(object)]);

    assertThat(kinds(figures()))
        .containsExactly(Kind.OBJECT_UNREADABLE, Kind.FEWER_ROWS_THAN_SOURCE);
    assertThat(rows().rows().missing()).isEqualTo(100);
  }

  @Test
  void lostAndStrayObjectsAreFound() throws IOException {
    parcels(900);
    runs.run(ASKED.cutAt(300));
    List<Path> objects = runs.objects(TABLE);
    assertThat(objects).hasSize(3);

    Path copy = objects.get(0).resolveSibling("20990101_000000.parquet");
    Files.copy(objects.get(0), copy);
    only(figures(), Kind.OBJECT_WITHOUT_MANIFEST);
    Proof twice = rows();
    assertThat(kinds(twice)).containsExactly(Kind.OBJECT_WITHOUT_MANIFEST, Kind.ROWS_TWICE);
    assertThat(twice.rows().twice()).isEqualTo(300);
    Files.delete(copy);

    byte[] lost = Files.readAllBytes(objects.get(1));
    Files.delete(objects.get(1));
    assertThat(kinds(figures()))
        .containsExactly(Kind.MANIFEST_WITHOUT_OBJECT, Kind.FEWER_ROWS_THAN_SOURCE);

    byte[] lostManifest = Files.readAllBytes(manifest(objects.get(1)));
    Files.delete(manifest(objects.get(1)));
    assertThat(kinds(figures())).contains(Kind.WINDOWS_NOT_CONSECUTIVE);
    assertThat(rows().rows().missing()).isEqualTo(300);

    Files.write(objects.get(1), lost);
    assertThat(kinds(figures()))
        .contains(Kind.OBJECT_WITHOUT_MANIFEST, Kind.WINDOWS_NOT_CONSECUTIVE);
    Files.write(manifest(objects.get(1)), "{}".getBytes(StandardCharsets.UTF_8));
    assertThat(kinds(figures())).contains(Kind.MANIFEST_UNREADABLE);
    Files.write(manifest(objects.get(1)), lostManifest);
    assertThat(rows().verdict()).isEqualTo(Verdict.PROVEN);
  }

  @Test
  void objectsOfBeforeAResetAreFound() {
    parcels(10);
    runs.run(ASKED);
    runs.execute("DELETE FROM millrace.table_state");
    runs.run(ASKED);

    only(figures(), Kind.OBJECT_OF_NO_WINDOW);
    Proof rows = rows();
    assertThat(kinds(rows)).containsExactly(Kind.OBJECT_OF_NO_WINDOW, Kind.ROWS_TWICE);
    assertThat(rows.rows().twice()).isEqualTo(10);
  }

  @Test
  void anObjectThatIsBeingPublishedIsLeftOut() {
    parcels(10);
    runs.run(ASKED);
    runs.execute(
        """
        CREATE TABLE shop.before AS SELECT * FROM millrace.table_state;
        CREATE TABLE shop.reading AS SELECT * FROM millrace.reading;
        INSERT INTO shop.parcel VALUES (11, 1, 'new', clock_timestamp())""");
    runs.run(ASKED);
    String key = runs.value("SELECT last_object FROM millrace.table_state");
    // As a worker leaves it that was killed before the watermark moved.
    runs.execute(
        """
        DELETE FROM millrace.table_state;
        INSERT INTO millrace.table_state SELECT * FROM shop.before;
        DELETE FROM millrace.reading;
        INSERT INTO millrace.reading SELECT * FROM shop.reading;
        DELETE FROM control.lease;
        INSERT INTO millrace.intent (pipeline, schema_name, table_name, attempt, run_id, lake,
          object_key, upload_id, bytes, rows, high, reading, initial_load, run_rows, null_keys,
          spike, baseline, position)
        VALUES ('parcels', 'shop', 'parcel', 'a', 'r', 'l', '%s', 'u', 1, 1, 'h', 'a', false, 1, 0,
          false, 0, 0)"""
            .formatted(key));

    Proof rows = rows();

    assertThat(rows.findings()).isEmpty();
    assertThat(rows.publishing()).isEqualTo(key);
    assertThat(rows.notes()).anySatisfy(note -> assertThat(note).contains("left half published"));
    assertThat(rows.rows().aboveWatermark()).isEqualTo(1);
  }

  @Test
  void everyTypeIsComparedInLittleMemory() {
    runs.execute(
        """
        CREATE TYPE shop.mood AS ENUM ('sad', 'happy');
        CREATE TYPE shop.pair AS (a int, b text);
        CREATE DOMAIN shop.code AS char(5);
        CREATE TABLE shop.zoo (
          id int PRIMARY KEY, at timestamptz NOT NULL, c_bool bool, c_int2 int2, c_int8 int8,
          c_float4 float4, c_float8 float8, c_num numeric(9,3), c_wide numeric(38,10),
          c_bare numeric, c_text text, c_char char(7), c_code shop.code, c_name name,
          c_quoted "char", c_mood shop.mood, c_json json, c_jsonb jsonb, c_bytes bytea,
          c_uuid uuid, c_date date, c_time time, c_timetz timetz, c_stamp timestamp,
          c_stamptz timestamptz, c_interval interval, c_money money, c_inet inet, c_cidr cidr,
          c_bit bit(5), c_varbit varbit, c_xml xml, c_oid oid, c_regclass regclass,
          c_range int4range, c_multi datemultirange, c_pair shop.pair, c_search tsvector,
          c_point point, c_ints int[], c_grid int[][], c_texts text[], c_inets inet[],
          c_stamps timestamptz[], c_nums numeric(5,2)[], c_bares numeric[], c_bools bool[],
          c_uuids uuid[], c_bytess bytea[], c_moods shop.mood[], c_chars char(3)[],
          c_dates date[], c_floats float8[]);
        CREATE INDEX ON shop.zoo (at);
        INSERT INTO shop.zoo (id, at) VALUES (1, now() - interval '2 hours');
        INSERT INTO shop.zoo SELECT i, now() - interval '1 hour', i % 2 = 0, -i, 9007199254740993,
          i / 3.0, 1e-300 * i, -i * 1.001, 1234567890123456789012345678.0123456789,
          i * 1.50, E'tab\\there, line\\nbreak, back\\\\slash, ünïcode 日付 N \\\\N', 'ab', 'x', 'name',
          'q', 'happy', '{"a":  1}', '{"b": 1, "a": [1, 2]}', '\\x00ff5c0a09',
          gen_random_uuid(), date '0044-03-15 BC' + i, '13:14:15.000001', '13:14:15+02',
          timestamp '15000-01-01 00:00:00.000001' + i * interval '1 second',
          '0044-03-15 12:00:00+00 BC', '1 year 2 mons 3 days 04:05:06.7', 12.34, '10.1.2.3',
          '10.1.0.0/16', '10101', '1', '<a>b</a>', 4294967295, 'pg_class', '[1,5)',
          '{[2020-01-01,2020-02-01)}', '(1,"x, y")', 'a:1 b:2', '(1,2)', ARRAY[1, NULL, 3],
          '{{1,2},{3,NULL}}', ARRAY['a,b', '', NULL, '"q"', E'\\\\', 'NULL', '{}'],
          '{10.1.2.3,10.1.2.0/24}', ARRAY[now(), NULL], '{1.50,NULL,-0.01}', '{1.50,2e40}',
          '{t,f,NULL}', ARRAY[gen_random_uuid()], ARRAY['\\x5c22'::bytea], '{sad,NULL}', '{a,bcd}',
          '{0044-03-15 BC,2020-01-01}', '{NaN,Infinity,-0,0.1}'
        FROM generate_series(2, 3000) i;
        INSERT INTO shop.zoo (id, at, c_float4, c_float8, c_bare, c_ints, c_texts, c_text, c_bytes)
        VALUES (4000, now() - interval '1 hour', 'NaN', '-0', 'NaN', '{}', '{}', '', ''),
               (4001, now() - interval '1 hour', '-Infinity', 'Infinity', 'Infinity', NULL, NULL,
                'N', NULL)""");
    Asked asked = Asked.of("zoo", "shop.zoo", "at").lookingBack("PT1M", 1);
    runs.run(asked);

    Proof rows = prove(asked, true, 1_000);

    assertThat(rows.findings()).isEmpty();
    assertThat(rows.notes()).singleElement().asString().contains("is open");
    assertThat(rows.verdict()).isEqualTo(Verdict.PROVEN);
    assertThat(rows.rows().equal()).isEqualTo(3_002);
    assertThat(rows.rows().replacedValues()).isZero();

    // A change of any column is seen.
    List<String> columns =
        List.of(
            runs.value(
                    "SELECT string_agg(attname, ',') FROM pg_attribute WHERE attrelid = 'shop.zoo'::regclass AND attname LIKE 'c\\_%'")
                .split(","));
    for (int i = 0; i < columns.size(); i++) {
      runs.execute(
          "UPDATE shop.zoo SET %s = NULL WHERE id = %d".formatted(columns.get(i), 100 + i));
    }
    Finding stale = only(prove(asked, true, HashRecords.MOST_HELD), Kind.ROWS_STALE);
    assertThat(stale.text()).startsWith(columns.size() + " rows");
    assertThat(stale.examples()).hasSize(6).last().asString().startsWith("and ");
  }

  @Test
  void replacedValuesAreComparedAsReplaced() {
    runs.execute(
        """
        CREATE TABLE shop.odd (id int PRIMARY KEY, at timestamptz NOT NULL, day date,
          amount numeric(9,2), days date[]);
        INSERT INTO shop.odd VALUES
          (1, now() - interval '1 hour', 'infinity', 'NaN', '{-infinity,2020-01-01}'),
          (2, now() - interval '1 hour', '-infinity', 1, NULL)""");
    ColumnRules rules = ColumnRules.DEFAULT;
    for (ColumnRules.Infinity infinity :
        List.of(ColumnRules.Infinity.NULL, ColumnRules.Infinity.CLAMP)) {
      Asked asked =
          Asked.of("odd-" + infinity, "shop.odd", "at")
              .under(
                  new ColumnRules(rules.numeric(), ColumnRules.Nan.NULL, infinity, rules.arrays()));
      runs.execute("DELETE FROM millrace.folder");
      runs.objects("shop.odd").forEach(VerificationIT::delete);
      runs.run(asked);
      runs.objects("shop.odd").forEach(object -> assertThat(object).exists());

      Proof rows = prove(asked, true, HashRecords.MOST_HELD);

      assertThat(rows.findings().stream().map(Finding::kind))
          .as("%s", infinity)
          .isSubsetOf(Kind.MANIFEST_WITHOUT_OBJECT);
      assertThat(rows.rows().equal()).as("%s", infinity).isEqualTo(2);
      assertThat(rows.rows().replacedValues()).isEqualTo(4);
      assertThat(rows.notes()).anySatisfy(note -> assertThat(note).contains("have replaced them"));
    }
  }

  private static void delete(Path file) {
    try {
      Files.delete(file);
    } catch (IOException exception) {
      throw new java.io.UncheckedIOException(exception);
    }
  }

  @Test
  void arraysThatWereCopiedAsTextAreCompared() {
    runs.execute(
        """
        CREATE TABLE shop.lists (id int PRIMARY KEY, at timestamptz NOT NULL, nets inet[],
          grid int[]);
        INSERT INTO shop.lists VALUES (1, now() - interval '1 hour', '{10.1.2.3}',
          '[0:1][0:0]={{1},{2}}')""");
    ColumnRules rules = ColumnRules.DEFAULT;
    Asked asked =
        Asked.of("lists", "shop.lists", "at")
            .under(
                new ColumnRules(
                    rules.numeric(), rules.nan(), rules.infinity(), ColumnRules.Arrays.TEXT));
    runs.run(asked);

    assertThat(prove(asked, true, HashRecords.MOST_HELD).verdict()).isEqualTo(Verdict.PROVEN);
  }

  @Test
  void columnsThatCameAndWentAreSaidAndTheOthersCompared() {
    parcels(10);
    runs.run(ASKED);
    runs.execute(
        """
        ALTER TABLE shop.parcel ADD COLUMN weight int;
        ALTER TABLE shop.parcel DROP COLUMN note;
        INSERT INTO shop.parcel VALUES (11, 1, clock_timestamp(), 5);
        UPDATE shop.parcel SET weight = 3, at = clock_timestamp() WHERE id = 1""");
    runs.run(ASKED);

    Proof rows = rows();

    assertThat(rows.verdict()).isEqualTo(Verdict.PROVEN);
    assertThat(rows.rows().equal()).isEqualTo(11);
    assertThat(rows.rows().olderVersions()).isEqualTo(1);
    assertThat(rows.notes())
        .contains(
            "columns not in all objects, and compared only in those that have them: weight",
            "columns no longer in the table, so not compared: note");
  }

  @Test
  void withoutAPrimaryKeyDeletedRowsAndOlderVersionsAreOne() {
    runs.execute(
        """
        CREATE TABLE shop.log (n int, at timestamptz NOT NULL);
        INSERT INTO shop.log SELECT i % 3, date_trunc('hour', now()) - interval '1 hour'
        FROM generate_series(1, 9) i""");
    Asked asked = Asked.of("log", "shop.log", "at");
    runs.run(asked);
    Proof rows = prove(asked, true, HashRecords.MOST_HELD);
    assertThat(rows.verdict()).isEqualTo(Verdict.PROVEN);
    assertThat(rows.rows().equal()).isEqualTo(9);

    runs.execute("DELETE FROM shop.log WHERE ctid = '(0,1)'");
    runs.execute("UPDATE shop.log SET n = 7, at = clock_timestamp() WHERE ctid = '(0,2)'");
    runs.run(asked);
    rows = prove(asked, true, HashRecords.MOST_HELD);

    assertThat(rows.verdict()).isEqualTo(Verdict.PROVEN_BUT_DELETED_ROWS);
    assertThat(rows.rows().equal()).isEqualTo(8);
    assertThat(rows.rows().deletedVersions()).isEqualTo(2);
    assertThat(rows.rows().deletedRows()).isEqualTo(-1);
    assertThat(rows.notes()).anySatisfy(note -> assertThat(note).contains("no primary key"));
  }

  @Test
  void keysThatAreNumbersOrWallClocksAreCompared() {
    runs.execute(
        """
        CREATE TABLE shop.numbered (id int PRIMARY KEY, k numeric);
        INSERT INTO shop.numbered SELECT i, i * 1.5 FROM generate_series(1, 100) i;
        CREATE TABLE shop.wall (id int PRIMARY KEY, k timestamp);
        INSERT INTO shop.wall SELECT i, now()::timestamp - interval '3 hours'
        FROM generate_series(1, 100) i""");
    for (String table : List.of("numbered", "wall")) {
      Asked asked = Asked.of(table, "shop." + table, "k");
      runs.run(asked);
      runs.execute("INSERT INTO shop.%1$s SELECT 1000, max(k) FROM shop.%1$s".formatted(table));
      runs.run(asked);

      Proof rows = prove(asked, true, HashRecords.MOST_HELD);

      assertThat(rows.findings()).as(table).isEmpty();
      assertThat(rows.rows().equal()).as(table).isEqualTo(101);
    }
  }

  @Test
  void aViewIsProvenWithoutVersions() {
    parcels(10);
    runs.execute("CREATE VIEW shop.seen AS SELECT * FROM shop.parcel");
    Asked asked = Asked.of("seen", "shop.seen", "at");
    runs.run(asked);

    Proof rows = prove(asked, true, HashRecords.MOST_HELD);

    assertThat(rows.verdict()).isEqualTo(Verdict.PROVEN);
    assertThat(rows.notes()).anySatisfy(note -> assertThat(note).contains("is a view"));
  }

  @Test
  void anEmptyTableIsProven() {
    parcels(0);
    runs.run(ASKED);

    assertThat(figures().verdict()).isEqualTo(Verdict.FIGURES_AGREE);
    assertThat(rows().verdict()).isEqualTo(Verdict.PROVEN);
  }

  @Test
  void whatCantBeLookedAtIsSaid() {
    assertThatThrownBy(this::figures)
        .isInstanceOfSatisfying(
            MillraceException.class,
            failure -> {
              assertThat(failure.code()).isEqualTo(ErrorCode.BAD_INPUT);
              assertThat(failure).hasMessageContaining("has no state of table shop.parcel");
            });
    parcels(1);
    runs.run(ASKED);
    runs.execute(
        "CREATE TABLE shop.other AS TABLE shop.parcel; DROP TABLE shop.parcel; ALTER TABLE shop.other RENAME TO parcel");
    assertThatThrownBy(this::figures)
        .isInstanceOfSatisfying(
            MillraceException.class,
            failure -> assertThat(failure.code()).isEqualTo(ErrorCode.SOURCE_CHANGED));
    assertThatThrownBy(
            () ->
                new Verification(runs.state(), source, List.of(), scratch, line -> {})
                    .prove("parcels", TableName.parse(TABLE), false))
        .hasMessageContaining("--lake");
  }
}
