package dev.millrace.testing;

import dev.millrace.dev.EmbeddedStack;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.parquet.ParquetReadOptions;
import org.apache.parquet.column.page.PageReadStore;
import org.apache.parquet.conf.PlainParquetConfiguration;
import org.apache.parquet.example.data.Group;
import org.apache.parquet.example.data.simple.convert.GroupRecordConverter;
import org.apache.parquet.hadoop.ParquetFileReader;
import org.apache.parquet.io.ColumnIOFactory;
import org.apache.parquet.io.LocalInputFile;
import org.apache.parquet.io.RecordReader;
import org.apache.parquet.schema.LogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.DateLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.DecimalLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.TimestampLogicalTypeAnnotation;
import org.apache.parquet.schema.MessageType;
import org.apache.parquet.schema.PrimitiveType;
import org.apache.parquet.schema.Type;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.http.apache5.Apache5HttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.MultipartUpload;
import software.amazon.awssdk.services.s3.model.S3Object;

/**
 * Reads what the shared stack's bucket holds: by the AWS SDK and parquet-java's example reader, so
 * that nothing of the writer is trusted.
 *
 * <p>Thread-safe.
 */
public final class LakeReader {
  private LakeReader() {}

  private static final class Holder {
    private static final S3Client CLIENT =
        S3Client.builder()
            .endpointOverride(TestStack.s3().endpoint())
            .region(Region.of(EmbeddedStack.REGION))
            .forcePathStyle(true)
            .httpClientBuilder(Apache5HttpClient.builder())
            .credentialsProvider(
                StaticCredentialsProvider.create(
                    AwsBasicCredentials.create(
                        TestStack.stack().accessKeyId(), TestStack.stack().secretAccessKey())))
            .build();
  }

  /** Returns the keys of objects below a prefix, in their order; without manifests. */
  public static List<String> objects(String prefix) {
    return keys(prefix).stream().filter(key -> !isManifest(key)).toList();
  }

  /** Returns the keys of manifests below a prefix, in their order. */
  public static List<String> manifests(String prefix) {
    return keys(prefix).stream().filter(LakeReader::isManifest).toList();
  }

  private static boolean isManifest(String key) {
    return key.contains("/_manifest/") && key.endsWith(".json");
  }

  private static List<String> keys(String prefix) {
    return Holder.CLIENT
        .listObjectsV2Paginator(request -> request.bucket(EmbeddedStack.BUCKET).prefix(prefix))
        .contents()
        .stream()
        .map(S3Object::key)
        .sorted()
        .toList();
  }

  /** Returns the objects below a prefix, each with its tag and the time at which it was written. */
  public static List<String> writings(String prefix) {
    return Holder.CLIENT
        .listObjectsV2Paginator(request -> request.bucket(EmbeddedStack.BUCKET).prefix(prefix))
        .contents()
        .stream()
        .filter(object -> !isManifest(object.key()))
        .map(object -> "%s %s %s".formatted(object.key(), object.eTag(), object.lastModified()))
        .toList();
  }

  /** Returns the keys below a prefix for which an upload is open. */
  public static List<String> openUploads(String prefix) {
    return Holder.CLIENT
        // Of the whole bucket: what a server makes of a prefix is not trusted here.
        .listMultipartUploadsPaginator(request -> request.bucket(EmbeddedStack.BUCKET))
        .uploads()
        .stream()
        .map(MultipartUpload::key)
        .filter(key -> key.startsWith(prefix))
        .toList();
  }

  /** Returns the rows of all objects below a prefix. */
  public static List<Map<String, String>> rowsUnder(String prefix) {
    return objects(prefix).stream().flatMap(key -> rows(key).stream()).toList();
  }

  /**
   * Returns the rows of one object, each as values by column, in the file's order.
   *
   * @param key the key, or the address {@code s3://bucket/key} that results tell
   */
  public static List<Map<String, String>> rows(String key) {
    return read(key, LakeReader::rows);
  }

  /** Returns the key-value metadata of one object's footer. */
  public static Map<String, String> metadata(String key) {
    return read(key, LakeReader::metadata);
  }

  /** Returns the key-value metadata of a file's footer. */
  public static Map<String, String> metadata(Path file) {
    try (ParquetFileReader reader = open(file)) {
      return reader.getFileMetaData().getKeyValueMetaData();
    } catch (IOException exception) {
      throw new UncheckedIOException(exception);
    }
  }

  /** Reads a file. */
  @FunctionalInterface
  private interface Reading<T> {
    T read(Path file) throws IOException;
  }

  private static <T> T read(String key, Reading<T> reading) {
    String scheme = "s3://" + EmbeddedStack.BUCKET + "/";
    String wanted = key.startsWith(scheme) ? key.substring(scheme.length()) : key;
    try {
      Path file = Files.createTempFile("lake", ".parquet");
      try {
        Files.write(
            file,
            Holder.CLIENT
                .getObjectAsBytes(request -> request.bucket(EmbeddedStack.BUCKET).key(wanted))
                .asByteArray());
        return reading.read(file);
      } finally {
        Files.delete(file);
      }
    } catch (IOException exception) {
      throw new UncheckedIOException(exception);
    }
  }

  /** Returns the rows of a file, each as values by column, in the file's order. */
  public static List<Map<String, String>> rows(Path file) {
    List<Map<String, String>> rows = new ArrayList<>();
    try (ParquetFileReader reader = open(file)) {
      MessageType schema = reader.getFileMetaData().getSchema();
      for (PageReadStore group = reader.readNextRowGroup();
          group != null;
          group = reader.readNextRowGroup()) {
        RecordReader<Group> records =
            new ColumnIOFactory()
                .getColumnIO(schema)
                .getRecordReader(group, new GroupRecordConverter(schema));
        for (long row = 0; row < group.getRowCount(); row++) {
          rows.add(values(schema, records.read()));
        }
      }
    } catch (IOException exception) {
      throw new UncheckedIOException(exception);
    }
    return rows;
  }

  private static ParquetFileReader open(Path file) throws IOException {
    return ParquetFileReader.open(
        new LocalInputFile(file),
        ParquetReadOptions.builder(new PlainParquetConfiguration())
            .withCodecFactory(new ZstdReading())
            .build());
  }

  private static Map<String, String> values(MessageType schema, Group row) {
    Map<String, String> values = new LinkedHashMap<>();
    for (int field = 0; field < schema.getFieldCount(); field++) {
      boolean isNull = row.getFieldRepetitionCount(field) == 0;
      values.put(
          schema.getFieldName(field), isNull ? null : value(schema.getType(field), row, field));
    }
    return values;
  }

  private static String value(Type type, Group row, int field) {
    if (type.isPrimitive()) {
      return value(type.asPrimitiveType(), row, field);
    }
    Group list = row.getGroup(field, 0);
    List<String> elements = new ArrayList<>();
    for (int i = 0; i < list.getFieldRepetitionCount(0); i++) {
      Group element = list.getGroup(0, i);
      boolean isNull = element.getFieldRepetitionCount(0) == 0;
      elements.add(isNull ? null : value(element.getType().getType(0), element, 0));
    }
    return elements.toString();
  }

  private static String value(PrimitiveType type, Group row, int field) {
    LogicalTypeAnnotation annotation = type.getLogicalTypeAnnotation();
    if (annotation instanceof DecimalLogicalTypeAnnotation decimal) {
      return new BigDecimal(unscaled(type, row, field), decimal.getScale()).toPlainString();
    }
    if (annotation instanceof TimestampLogicalTypeAnnotation timestamp) {
      Instant instant = Instant.EPOCH.plus(row.getLong(field, 0), ChronoUnit.MICROS);
      return timestamp.isAdjustedToUTC()
          ? instant.toString()
          : LocalDateTime.ofInstant(instant, ZoneOffset.UTC).toString();
    }
    if (annotation instanceof DateLogicalTypeAnnotation) {
      return LocalDate.ofEpochDay(row.getInteger(field, 0)).toString();
    }
    return row.getValueToString(field, 0);
  }

  private static BigInteger unscaled(PrimitiveType type, Group row, int field) {
    return switch (type.getPrimitiveTypeName()) {
      case INT32 -> BigInteger.valueOf(row.getInteger(field, 0));
      case INT64 -> BigInteger.valueOf(row.getLong(field, 0));
      case BINARY, FIXED_LEN_BYTE_ARRAY -> new BigInteger(row.getBinary(field, 0).getBytes());
      case BOOLEAN, FLOAT, DOUBLE, INT96 ->
          throw new IllegalStateException("no decimal is stored as " + type);
    };
  }
}
