package dev.millrace.parquet;

import dev.millrace.postgres.Catalogue;
import dev.millrace.postgres.Postgres;
import dev.millrace.postgres.Relation;
import dev.millrace.postgres.SelectQuery;
import dev.millrace.postgres.TableName;
import java.util.Map;

/** A table of a real Postgres, copied into a Parquet file in memory. */
record Extracted(Relation relation, MemoryFile file, ParquetSummary summary, long copied) {

  /** Copies the whole table; its first column is the key. */
  static Extracted from(Postgres postgres, String name) {
    return postgres.read(
        connection -> {
          Relation relation = new Catalogue().relation(connection, TableName.parse(name));
          MemoryFile file = new MemoryFile();
          try (ParquetTable table =
              new ParquetTable(relation.columns(), 0, Map.of("source", name), file)) {
            long copied =
                postgres.copy(
                    connection,
                    SelectQuery.text(relation, relation.columns(), null),
                    table::accept);
            return new Extracted(relation, file, table.finish(), copied);
          }
        });
  }
}
