package dev.millrace.replication;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.PropertyNamingStrategies;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.millrace.parquet.ReplacedValues;
import dev.millrace.postgres.RowFilter;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * What is written beside each object, {@code _manifest/<name>.json}: what it holds and how it was
 * read. {@code docs/verify.md} tells its fields to people.
 *
 * @param format {@value #FORMAT}
 * @param object the object's whole key
 * @param previousObject the key of the table's object before it; null in a first load's first one.
 *     Following it tells windows without rows, which have no object, from objects that are lost
 * @param pipeline the pipeline
 * @param runId the run
 * @param attempt the attempt that wrote it; also in the object's own metadata
 * @param table {@code schema.table}
 * @param updateKey the key's column
 * @param keyKind what the key is
 * @param keyTimeZone the zone of keys that are wall clocks
 * @param low rows have keys above it, but for late ones; null in a first load
 * @param high rows have keys up to it
 * @param lateAbove late rows were taken whose key is at most {@code low} and above this; null where
 *     none were looked for
 * @param wholePartitions partitions that were not there before, whose rows were all read
 * @param nullKeys whether rows without a key are in it
 * @param filter what all of its rows met in the snapshot; null when none was set
 * @param snapshot {@code xmin:xmax} of the snapshot that it was read in; null where rows have no
 *     versions
 * @param timeline of the server; 0 where it can't be told
 * @param lookBack how far below the watermark late rows are looked for, as text
 * @param rows number of rows
 * @param bytes the object's size
 * @param sha256 of all its bytes, in hexadecimal digits
 * @param columns those of the object, in their order
 * @param replaced values that rules have replaced
 * @param millrace the version that wrote it
 */
public record Manifest(
    int format,
    String object,
    String previousObject,
    String pipeline,
    String runId,
    String attempt,
    String table,
    String updateKey,
    KeyKind keyKind,
    String keyTimeZone,
    String low,
    String high,
    String lateAbove,
    List<String> wholePartitions,
    boolean nullKeys,
    List<FilterCondition> filter,
    String snapshot,
    int timeline,
    String lookBack,
    long rows,
    long bytes,
    String sha256,
    List<CopiedColumn> columns,
    List<ReplacedValues> replaced,
    String millrace) {
  /** The only format so far. */
  public static final int FORMAT = 1;

  private static final JsonMapper JSON =
      JsonMapper.builder()
          .propertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE)
          .enable(SerializationFeature.INDENT_OUTPUT)
          .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
          .build();

  /**
   * A column of the object.
   *
   * @param name as the catalogue has it
   * @param postgres its type as Postgres shows it
   * @param parquet its type in the object
   */
  public record CopiedColumn(String name, String postgres, String parquet) {}

  /**
   * A condition of the row filter.
   *
   * @param operator as a person writes it
   * @param values none, one or a list, as the operator takes them
   */
  public record FilterCondition(String column, String operator, List<String> values) {
    public FilterCondition {
      values = List.copyOf(values);
    }
  }

  public Manifest {
    wholePartitions = wholePartitions == null ? List.of() : List.copyOf(wholePartitions);
    columns = columns == null ? List.of() : List.copyOf(columns);
    replaced = replaced == null ? List.of() : List.copyOf(replaced);
    filter = filter == null ? null : List.copyOf(filter);
  }

  /** Returns a filter as a manifest has it; null when all rows pass. */
  static List<FilterCondition> conditions(RowFilter filter) {
    return filter.isNone()
        ? null
        : filter.conditions().stream()
            .map(
                condition ->
                    new FilterCondition(
                        condition.column(), condition.operator().text(), condition.values()))
            .toList();
  }

  /**
   * Returns which rows were read.
   *
   * @throws IllegalArgumentException when there is a condition that this version does not know
   */
  public RowFilter rowFilter() {
    return filter == null
        ? RowFilter.NONE
        : new RowFilter(
            filter.stream()
                .map(
                    condition ->
                        new RowFilter.Condition(
                            condition.column(),
                            RowFilter.Operator.of(condition.operator())
                                .orElseThrow(
                                    () ->
                                        new IllegalArgumentException(
                                            "no operator " + condition.operator())),
                            condition.values()))
                .toList());
  }

  /** Returns the version of this build. */
  static String version() {
    String version = Manifest.class.getPackage().getImplementationVersion();
    return version == null ? "(not packaged)" : version;
  }

  /** Returns the text that goes into the lake. */
  String write() {
    try {
      return JSON.writeValueAsString(this) + "\n";
    } catch (JsonProcessingException exception) {
      throw new IllegalStateException("a manifest can't be written as JSON", exception);
    }
  }

  /**
   * Reads a manifest.
   *
   * @throws IllegalArgumentException when it is none, or one of another format
   */
  public static Manifest read(byte[] text) {
    try {
      Manifest manifest = JSON.readValue(new String(text, StandardCharsets.UTF_8), Manifest.class);
      if (manifest.format != FORMAT || manifest.object == null || manifest.high == null) {
        throw new IllegalArgumentException("not a manifest of format " + FORMAT);
      }
      return manifest;
    } catch (JsonProcessingException exception) {
      throw new IllegalArgumentException(
          "not a manifest: " + exception.getOriginalMessage(), exception);
    }
  }

  /** Returns the range of its keys, but for late rows. */
  public Window window() {
    return new Window(keyKind, low, high);
  }
}
