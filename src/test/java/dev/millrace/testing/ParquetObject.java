package dev.millrace.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.parquet.column.page.PageReadStore;
import org.apache.parquet.example.data.Group;
import org.apache.parquet.example.data.simple.convert.GroupRecordConverter;
import org.apache.parquet.hadoop.ParquetFileReader;
import org.apache.parquet.io.ColumnIOFactory;
import org.apache.parquet.io.LocalInputFile;
import org.apache.parquet.io.RecordReader;
import org.apache.parquet.schema.MessageType;

/** Reads Parquet with the readers of parquet-java. Stateless. */
public final class ParquetObject {
  private ParquetObject() {}

  /** Returns the rows of a file. */
  public static List<Group> rows(byte[] content) {
    Path copy = null;
    try {
      copy = Files.createTempFile("millrace-test-", ".parquet");
      Files.write(copy, content);
      return rows(copy);
    } catch (IOException exception) {
      throw new UncheckedIOException(exception);
    } finally {
      if (copy != null) {
        boolean unused = copy.toFile().delete();
      }
    }
  }

  private static List<Group> rows(Path file) throws IOException {
    List<Group> rows = new ArrayList<>();
    try (ParquetFileReader reader = ParquetFileReader.open(new LocalInputFile(file))) {
      MessageType schema = reader.getFileMetaData().getSchema();
      for (PageReadStore group = reader.readNextRowGroup();
          group != null;
          group = reader.readNextRowGroup()) {
        RecordReader<Group> records =
            new ColumnIOFactory()
                .getColumnIO(schema)
                .getRecordReader(group, new GroupRecordConverter(schema));
        for (long row = 0; row < group.getRowCount(); row++) {
          rows.add(records.read());
        }
      }
    }
    return rows;
  }
}
