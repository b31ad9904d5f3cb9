package dev.millrace.parquet;

import dev.millrace.postgres.Catalogue;
import dev.millrace.postgres.Column;
import dev.millrace.postgres.ColumnRules;
import dev.millrace.postgres.Postgres;
import dev.millrace.postgres.Relation;
import dev.millrace.postgres.SelectQuery;
import dev.millrace.postgres.TableName;
import java.util.List;
import java.util.Map;

/** A table of a real Postgres, copied into a Parquet file in memory. */
record Extracted(Relation relation, MemoryFile file, ParquetSummary summary, long copied) {

  /** Copies the whole table under the default rules; its first column is the key. */
  static Extracted from(Postgres postgres, String name) {
    return from(postgres, name, ColumnRules.DEFAULT);
  }

  /** Copies the whole table; its first column is the key. */
  static Extracted from(Postgres postgres, String name, ColumnRules rules) {
    return from(postgres, name, rules, FileFormat.DEFAULT);
  }

  /** Copies the whole table in a format. */
  static MemoryFile write(Postgres postgres, String name, FileFormat format) {
    return from(postgres, name, ColumnRules.DEFAULT, format).file();
  }

  private static Extracted from(
      Postgres postgres, String name, ColumnRules rules, FileFormat format) {
    return postgres.read(
        connection -> {
          Relation relation = new Catalogue().relation(connection, TableName.parse(name));
          List<Column> columns = relation.columns(rules);
          MemoryFile file = new MemoryFile();
          try (ParquetTable table =
              new ParquetTable(columns, 0, Map.of("source", name), format, file)) {
            CopyEncoder encoder = table.encoder();
            encoder.start();
            long copied =
                postgres.copy(
                    connection, SelectQuery.text(relation, columns, null), encoder::accept);
            return new Extracted(relation, file, table.finish(), copied);
          }
        });
  }
}
