package dev.millrace.replication;

import dev.millrace.postgres.TableName;

/** Under what the state of a table is kept. */
record TableKey(String pipeline, TableName table) {
  static TableKey of(TableTask task) {
    return new TableKey(task.pipeline(), task.table().name());
  }
}
