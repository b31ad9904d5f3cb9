package dev.millrace.refresh;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.clickhouse.ClickHouseType;
import dev.millrace.clickhouse.TargetTable;
import dev.millrace.postgres.TableName;
import java.util.List;
import org.junit.jupiter.api.Test;

class PullStatementTest {
  private static final TableName SOURCE = new TableName("Lager \"Süd\"", "it's \\ odd");
  private static final TargetTable TARGET = new TargetTable("db", "odd`\\name");

  private static List<ColumnMapping> columns(boolean takesQuery, String name) {
    return ColumnMapping.all(
        List.of(ColumnMappingTest.source(name, "integer")),
        List.of(ClickHouseType.parse("Int32")),
        new LoadConditions(Load.PULL, takesQuery, "UTC", "UTF8"));
  }

  private static PullStatement statement(PullStatement.Access access, boolean takesQuery) {
    return new PullStatement(columns(takesQuery, "a b"), access, SOURCE, takesQuery);
  }

  private static final PullStatement.Access DIRECT =
      new PullStatement.Access.Direct("db:5432", "app", "reader", "pass'\\word");

  @Test
  void sendsOurOwnQuery() {
    assertThat(statement(DIRECT, true).text(TARGET))
        .isEqualTo(
            "INSERT INTO `db`.`odd\\`\\\\name` (`a b`) SELECT accurateCast(c0, 'Int32') FROM"
                + " postgresql('db:5432', 'app', query('SELECT t.\"a b\" AS c0 FROM"
                + " \"Lager \"\"Süd\"\"\".\"it\\'s \\\\ odd\" AS t'), 'reader', 'pass\\'\\\\word')"
                + " SETTINGS external_table_functions_use_nulls = 1, insert_null_as_default = 0");
  }

  @Test
  void readsTheTableWhereNoQueryIsTaken() {
    assertThat(statement(DIRECT, false).text(TARGET))
        .contains(
            "SELECT accurateCast(`a b`, 'Int32') FROM postgresql('db:5432', 'app', 'it\\'s \\\\ odd', 'reader', 'pass\\'\\\\word', 'Lager \"Süd\"')");
  }

  @Test
  void aNamedCollectionKeepsThePasswordOut() {
    PullStatement.Access collection = new PullStatement.Access.Collection("app_db");
    assertThat(statement(collection, true).text(TARGET))
        .contains("postgresql(`app_db`, query = 'SELECT ");
    assertThat(statement(collection, false).text(TARGET))
        .contains("postgresql(`app_db`, table = 'it\\'s \\\\ odd', schema = 'Lager \"Süd\"')");
    assertThat(PullStatement.probe(collection))
        .isEqualTo("DESCRIBE TABLE postgresql(`app_db`, query = 'SELECT 1 AS one')");
  }

  @Test
  void thePasswordIsOnlyInTheTextToExecute() {
    PullStatement statement = statement(DIRECT, true);
    assertThat(statement.shown(TARGET)).doesNotContain("word").contains("'***'");
    assertThat(statement.toString()).doesNotContain("word");
    assertThat(DIRECT.toString()).doesNotContain("word");
  }
}
