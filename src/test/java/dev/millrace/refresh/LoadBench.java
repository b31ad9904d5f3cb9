package dev.millrace.refresh;

import dev.millrace.clickhouse.ClickHouse;
import dev.millrace.clickhouse.ClickHouseSettings;
import dev.millrace.clickhouse.ClickHouseType;
import dev.millrace.clickhouse.TargetTable;
import dev.millrace.postgres.Catalogue;
import dev.millrace.postgres.Postgres;
import dev.millrace.postgres.PostgresSettings;
import dev.millrace.postgres.SslMode;
import dev.millrace.postgres.TableName;
import java.io.OutputStream;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.List;
import java.util.UUID;

/**
 * Copies the seed's table {@code public.products} into {@code analytics.products} by each way,
 * audits both, and prints what it cost; not a test.
 */
public final class LoadBench {
  private static final TableName SOURCE = new TableName("public", "products");
  private static final TargetTable TARGET = new TargetTable("analytics", "products");
  private static final List<ClickHouseType> TYPES =
      List.of("Int32", "String", "String", "Int32", "DateTime64(6)").stream()
          .map(ClickHouseType::parse)
          .toList();
  private static final Duration LIMIT = Duration.ofHours(1);
  private static final String SEED_AUDIT =
      "SELECT count(*)::text, count(DISTINCT id)::text, coalesce(sum(price_cents), 0)::text, coalesce(max(updated_at)::text, '') FROM public.products";

  private final Postgres postgres;
  private final ClickHouse clickHouse;
  private final PullStatement.Access.Direct access;

  private LoadBench(Postgres postgres, ClickHouse clickHouse, PullStatement.Access.Direct access) {
    this.postgres = postgres;
    this.clickHouse = clickHouse;
    this.access = access;
  }

  /** Arguments: Postgres' port, database, ClickHouse's HTTP port, rounds. */
  public static void main(String[] arguments) {
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
            LIMIT);
    ClickHouseSettings warehouse =
        new ClickHouseSettings(
            "bench",
            "127.0.0.1",
            Integer.parseInt(arguments[2]),
            false,
            "default",
            null,
            Duration.ofSeconds(10),
            LIMIT,
            LIMIT);
    PullStatement.Access.Direct access =
        new PullStatement.Access.Direct(
            "127.0.0.1:" + arguments[0], arguments[1], "postgres", null);
    try (Postgres postgres = new Postgres(settings);
        ClickHouse clickHouse = new ClickHouse(warehouse)) {
      LoadBench bench = new LoadBench(postgres, clickHouse, access);
      for (int round = 0; round < Integer.parseInt(arguments[3]); round++) {
        bench.round();
      }
    }
  }

  private void round() {
    List<ColumnMapping> pull = mappings(Load.PULL);
    List<ColumnMapping> push = mappings(Load.PUSH);
    load("bare INSERT SELECT", () -> execute(bare()));
    load("pull", () -> execute(new PullStatement(pull, access, SOURCE, true).text(TARGET)));
    time("push, encoding alone", () -> copy(push, OutputStream.nullOutputStream()));
    load(
        "push",
        () ->
            clickHouse.insert(
                new PushStatement(push).into(TARGET), id(), LIMIT, out -> copy(push, out)));
    time("the seed's audit, source", this::seedAudit);
    audit(push, false);
    audit(push, true);
  }

  private void seedAudit() {
    postgres.read(connection -> CopiedRow.of(postgres, connection, SEED_AUDIT, () -> {}));
  }

  private void audit(List<ColumnMapping> columns, boolean full) {
    AuditPlan plan =
        new AuditPlan(columns, columns.get(0), columns.get(3), columns.get(4).source(), full);
    String kind = full ? "full" : "standard";
    AuditFigures[] figures = new AuditFigures[2];
    time(
        kind + " audit, source",
        () ->
            figures[0] =
                postgres.read(
                    connection ->
                        new SourceAudit(plan, SOURCE, "UTF8")
                            .read(postgres, connection, () -> {})));
    time(
        kind + " audit, target",
        () -> figures[1] = new TargetAudit(plan).read(clickHouse, TARGET, LIMIT));
    List<String> names = columns.stream().map(ColumnMapping::name).toList();
    System.out.printf(
        "%s rows, differences %s%n",
        figures[0].rows(), Verdict.differences(names, figures[0], figures[1]));
  }

  private String bare() {
    String columns = "id, sku, name, price_cents, updated_at";
    return "INSERT INTO %s (%s) SELECT %s FROM postgresql('%s', '%s', 'products', 'postgres', '')"
        .formatted(TARGET.sql(), columns, columns, access.address(), access.database());
  }

  private void copy(List<ColumnMapping> columns, OutputStream out) {
    postgres.read(
        connection -> {
          PushEncoder encoder = new PushEncoder(columns, 0, out);
          postgres.copy(connection, new PushStatement(columns).select(SOURCE), encoder);
          return encoder.finish();
        });
  }

  private List<ColumnMapping> mappings(Load load) {
    return postgres.read(
        connection -> {
          SourceColumns columns =
              SourceColumns.of(connection, new Catalogue().relation(connection, SOURCE));
          return ColumnMapping.all(
              columns.columns(), TYPES, new LoadConditions(load, true, "UTC", columns.encoding()));
        });
  }

  private void execute(String sql) {
    clickHouse.execute(sql, id(), LIMIT);
  }

  private static String id() {
    return "bench-" + UUID.randomUUID();
  }

  private void load(String what, Runnable work) {
    execute("TRUNCATE TABLE " + TARGET.sql());
    time(what, work);
  }

  private static void time(String what, Runnable work) {
    long cpu = cpu();
    long start = System.nanoTime();
    work.run();
    System.out.printf(
        "%-26s wall %6.2f s, own cpu %5.2f s%n",
        what, (System.nanoTime() - start) / 1e9, (cpu() - cpu) / 1e9);
  }

  private static long cpu() {
    return ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean())
        .getProcessCpuTime();
  }
}
