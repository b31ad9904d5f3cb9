package dev.millrace.refresh;

import dev.millrace.clickhouse.ClickHouse;
import dev.millrace.clickhouse.TargetTable;
import dev.millrace.postgres.Postgres;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;

/**
 * Fills a table from the source.
 *
 * @param clickHouse where the table is
 * @param layout which columns, and how
 * @param table the table to fill
 * @param queryId by which the server knows the statement
 * @param limit how long it may take
 */
record TableLoad(
    ClickHouse clickHouse, Layout layout, TargetTable table, String queryId, Duration limit) {

  /** Lets ClickHouse read Postgres. */
  void pull() {
    PullStatement pull =
        new PullStatement(layout.columns(), layout.access(), layout.table(), layout.takesQuery());
    clickHouse.execute(pull.text(table), queryId, limit);
  }

  /**
   * Streams one snapshot of Postgres into ClickHouse, and audits the source in it, unless that
   * would give the figures that are known.
   *
   * @param known what the source's audit found before
   * @param waiting called about once a second while Postgres is audited; may throw to stop it
   * @return the source's figures in that snapshot
   */
  AuditFigures push(Postgres postgres, SourceFigures known, Runnable waiting) {
    return postgres.read(
        connection -> {
          AuditFigures source =
              known.holdAt(SourceVersion.of(connection, layout.table()))
                  ? known.figures()
                  : layout.sourceAudit().read(postgres, connection, waiting);
          try {
            clickHouse.insert(
                new PushStatement(layout.columns()).into(table),
                queryId,
                limit,
                out -> stream(postgres, connection, out));
          } catch (SourceException exception) {
            throw exception.cause;
          }
          return source;
        });
  }

  private void stream(Postgres postgres, Connection connection, OutputStream out)
      throws IOException {
    PushEncoder encoder = new PushEncoder(layout.columns(), layout.keyPosition(), out);
    try {
      postgres.copy(
          connection, new PushStatement(layout.columns()).select(layout.table()), encoder);
      encoder.finish();
    } catch (UncheckedIOException exception) {
      throw exception.getCause();
    } catch (SQLException exception) {
      throw new SourceException(exception);
    }
  }

  /** Carries what Postgres said through the INSERT. */
  private static final class SourceException extends RuntimeException {
    private static final long serialVersionUID = 1;
    private final SQLException cause;

    private SourceException(SQLException cause) {
      super(cause);
      this.cause = cause;
    }
  }
}
