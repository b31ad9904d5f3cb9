package dev.millrace.replication;

import dev.millrace.run.StepFailure;

/**
 * Why a table failed.
 *
 * @param table as people write it
 * @param code the stable code
 * @param message names the thing, the cause and the way out
 */
public record TableFailure(String table, String code, String message) {
  static TableFailure of(String table, StepFailure failure) {
    return new TableFailure(table, failure.code(), failure.message());
  }
}
