package dev.millrace.parquet;

import dev.millrace.postgres.Catalogue;
import dev.millrace.postgres.Column;
import dev.millrace.postgres.ColumnRules;
import dev.millrace.postgres.Postgres;
import dev.millrace.postgres.PostgresSettings;
import dev.millrace.postgres.Relation;
import dev.millrace.postgres.SelectQuery;
import dev.millrace.postgres.SslMode;
import dev.millrace.postgres.TableName;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/** Copies one table to a file or to nowhere and prints what it cost; not a test. */
public final class ExtractBench {
  private ExtractBench() {}

  /** Arguments: port, database, table, file or "-", rounds. */
  public static void main(String[] arguments) throws IOException {
    PostgresSettings settings =
        new PostgresSettings(
            "bench",
            "127.0.0.1",
            Integer.parseInt(arguments[0]),
            arguments[1],
            "postgres",
            null,
            SslMode.DISABLE,
            null,
            2,
            Duration.ofSeconds(10),
            Duration.ofSeconds(60));
    try (Postgres postgres = new Postgres(settings)) {
      for (int round = 0; round < Integer.parseInt(arguments[4]); round++) {
        long wall = System.nanoTime();
        long cpu = cpu();
        ParquetSummary summary = run(postgres, arguments[2], arguments[3]);
        System.out.printf(
            "wall %.2f s, cpu %.2f s, %s%n",
            (System.nanoTime() - wall) / 1e9, (cpu() - cpu) / 1e9, summary);
      }
    }
  }

  private static long cpu() {
    return ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean())
        .getProcessCpuTime();
  }

  private static ParquetSummary run(Postgres postgres, String name, String target)
      throws IOException {
    if (target.equals("-")) {
      return run(postgres, name, bytes -> bytes.position(bytes.limit()));
    }
    try (FileChannel file =
        FileChannel.open(
            Path.of(target),
            StandardOpenOption.CREATE,
            StandardOpenOption.WRITE,
            StandardOpenOption.TRUNCATE_EXISTING)) {
      return run(
          postgres,
          name,
          bytes -> {
            try {
              while (bytes.hasRemaining()) {
                file.write(bytes);
              }
            } catch (IOException e) {
              throw new UncheckedIOException(e);
            }
          });
    }
  }

  private static ParquetSummary run(Postgres postgres, String name, ParquetTable.Sink sink) {
    return postgres.read(
        connection -> {
          Relation relation = new Catalogue().relation(connection, TableName.parse(name));
          List<Column> columns = relation.columns(ColumnRules.DEFAULT);
          try (ParquetTable table = new ParquetTable(columns, 0, Map.of(), sink)) {
            postgres.copy(connection, SelectQuery.text(relation, columns, null), table::accept);
            return table.finish();
          }
        });
  }
}
