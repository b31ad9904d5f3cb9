package dev.millrace.parquet;

import dev.millrace.postgres.Catalogue;
import dev.millrace.postgres.Column;
import dev.millrace.postgres.ColumnRules;
import dev.millrace.postgres.Postgres;
import dev.millrace.postgres.PostgresSettings;
import dev.millrace.postgres.Relation;
import dev.millrace.postgres.SelectQuery;
import dev.millrace.postgres.TableName;
import dev.millrace.testing.TestPostgres;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Map;

/** Copies a table of a local Postgres into a file, in a process of its own. */
final class TableToFile {
  private TableToFile() {}

  /** Arguments: port, database, table, file. */
  public static void main(String[] arguments) throws IOException {
    PostgresSettings settings =
        TestPostgres.settings(Integer.parseInt(arguments[0]), arguments[1], "postgres", null);
    try (Postgres postgres = new Postgres(settings);
        FileChannel file =
            FileChannel.open(
                Path.of(arguments[3]), StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
      System.out.println(copy(postgres, arguments[2], bytes -> write(file, bytes)));
    }
  }

  private static void write(FileChannel file, ByteBuffer bytes) {
    try {
      while (bytes.hasRemaining()) {
        file.write(bytes);
      }
    } catch (IOException exception) {
      throw new UncheckedIOException(exception);
    }
  }

  private static ParquetSummary copy(Postgres postgres, String name, ParquetTable.Sink sink) {
    return postgres.read(
        connection -> {
          Relation relation = new Catalogue().relation(connection, TableName.parse(name));
          List<Column> columns = relation.columns(ColumnRules.DEFAULT);
          try (ParquetTable table = new ParquetTable(columns, 0, Map.of(), sink)) {
            CopyEncoder encoder = table.encoder();
            encoder.start();
            postgres.copy(connection, SelectQuery.text(relation, columns, null), encoder::accept);
            return table.finish();
          }
        });
  }
}
