package dev.millrace.refresh;

import dev.millrace.clickhouse.ClickHouseType;
import dev.millrace.clickhouse.TargetTable;
import dev.millrace.postgres.Catalogue;
import dev.millrace.postgres.Postgres;
import dev.millrace.postgres.PostgresSettings;
import dev.millrace.postgres.SslMode;
import dev.millrace.postgres.TableName;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.List;

/** Copies one table by each way and prints what it cost; not a test. */
public final class LoadBench {
  private static final List<String> TYPES = List.of("Int32", "String", "String", "Int32", "DateTime64(6)");
  private static final TableName SOURCE = new TableName("public", "products");
  private static final TargetTable TARGET = new TargetTable("analytics", "products");

  private LoadBench() {}

  public static void main(String[] arguments) {
    int port = Integer.parseInt(arguments[0]);
    PostgresSettings settings =
        new PostgresSettings("bench", "127.0.0.1", port, arguments[1], "postgres", null,
            SslMode.DISABLE, null, 2, Duration.ofSeconds(10), Duration.ofSeconds(60));
    try (Postgres postgres = new Postgres(settings)) {
      for (int round = 0; round < Integer.parseInt(arguments[2]); round++) {
        time("bare", () -> Warehouse.execute("INSERT INTO analytics.products (id,sku,name,price_cents,updated_at) SELECT id,sku,name,price_cents,updated_at FROM postgresql('127.0.0.1:" + port + "','" + arguments[1] + "','products','postgres','')"));
        List<ColumnMapping> pull = mappings(postgres, Load.PULL);
        PullStatement statement = new PullStatement(pull, new PullStatement.Access.Direct("127.0.0.1:" + port, arguments[1], "postgres", null), SOURCE, true);
        time("pull", () -> Warehouse.execute(statement.text(TARGET)));
        List<ColumnMapping> push = mappings(postgres, Load.PUSH);
        PushStatement pushed = new PushStatement(push);
        time("push", () -> Warehouse.insert(pushed.insert(TARGET), out -> postgres.read(connection -> {
          PushEncoder encoder = new PushEncoder(push, 0, out);
          postgres.copy(connection, pushed.select(SOURCE), encoder);
          return encoder.finish();
        })));
        time("encode only", () -> postgres.read(connection -> {
          PushEncoder encoder = new PushEncoder(push, 0, java.io.OutputStream.nullOutputStream());
          postgres.copy(connection, pushed.select(SOURCE), encoder);
          return encoder.finish();
        }));
        for (boolean full : new boolean[] {false, true}) {
          AuditPlan plan = new AuditPlan(push, push.get(0), push.get(3), push.get(4).source(), full);
          AuditFigures[] figures = new AuditFigures[2];
          time("source audit full=" + full, () -> figures[0] = postgres.read(connection -> new SourceAudit(plan, SOURCE, "UTF8").read(postgres, connection, () -> {})));
          TargetAudit audit = new TargetAudit(plan);
          if (round == 0 && !full) {
            System.out.println(new SourceAudit(plan, SOURCE, "UTF8").sql());
            System.out.println(audit.sql(TARGET));
            System.out.println(statement.shown(TARGET));
          }
          Warehouse.execute("SELECT 1");
          if (!full) {
            load(pushed, push, postgres);
          }
          time2("target audit full=" + full, () -> figures[1] = audit.figures(Warehouse.rows(audit.sql(TARGET)).get(0)));
          System.out.println(Verdict.differences(push.stream().map(ColumnMapping::name).toList(), figures[0], figures[1]) + " " + figures[0]);
        }
        time("seed's source audit", () -> postgres.read(connection -> {
          try (var s = connection.createStatement(); var r = s.executeQuery("SELECT count(*)::text, count(DISTINCT id)::text, coalesce(sum(price_cents),0)::text, coalesce(max(updated_at)::text,'') FROM public.products")) {
            return r.next();
          }
        }));
      }
    }
  }

  private static void load(PushStatement pushed, List<ColumnMapping> push, Postgres postgres) {
    Warehouse.execute("TRUNCATE TABLE analytics.products");
    Warehouse.insert(pushed.insert(TARGET), out -> postgres.read(connection -> {
      PushEncoder encoder = new PushEncoder(push, 0, out);
      postgres.copy(connection, pushed.select(SOURCE), encoder);
      return encoder.finish();
    }));
  }

  private static List<ColumnMapping> mappings(Postgres postgres, Load load) {
    return postgres.read(connection -> {
      SourceColumns columns = SourceColumns.of(connection, new Catalogue().relation(connection, SOURCE));
      return ColumnMapping.all(columns.columns(), TYPES.stream().map(ClickHouseType::parse).toList(),
          new LoadConditions(load, true, "UTC", columns.serverVersion(), columns.encoding()));
    });
  }

  private static void time(String what, Runnable work) {
    Warehouse.execute("TRUNCATE TABLE analytics.products");
    time2(what, work);
  }

  private static void time2(String what, Runnable work) {
    long cpu = cpu();
    long start = System.nanoTime();
    work.run();
    System.out.printf("%-28s wall %.2f s, own cpu %.2f s%n", what, (System.nanoTime() - start) / 1e9, (cpu() - cpu) / 1e9);
  }

  private static long cpu() {
    return ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime();
  }
}
