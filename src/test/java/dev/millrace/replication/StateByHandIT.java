package dev.millrace.replication;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.control.Pipeline;
import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import dev.millrace.lake.Lake;
import dev.millrace.parquet.FileFormat;
import dev.millrace.postgres.Postgres;
import dev.millrace.testing.TestPostgres;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a person decides while an object is left half published. */
class StateByHandIT {
  @TempDir private Path folder;

  private final AtomicBoolean away = new AtomicBoolean();

  /** A lake that can't publish while it is away. */
  private Lake spoilt(Lake lake) {
    return (Lake)
        Proxy.newProxyInstance(
            Lake.class.getClassLoader(),
            new Class<?>[] {Lake.class},
            (proxy, method, arguments) -> {
              if (method.getName().equals("publish") && away.get()) {
                throw new MillraceException(ErrorCode.LAKE_UNAVAILABLE, "away on purpose");
              }
              try {
                return method.invoke(lake, arguments);
              } catch (InvocationTargetException exception) {
                throw exception.getCause();
              }
            });
  }

  @Test
  void anIntentThatIsLeftIsStillDecidedAfterTheTableIsAccepted() {
    String database = TestPostgres.createDatabase();
    Postgres source = new Postgres(TestPostgres.settings(database));
    try (source;
        DirectRuns runs =
            new DirectRuns(database, folder, source, FileFormat.DEFAULT, this::spoilt)) {
      runs.execute(
          """
          CREATE TABLE public.left_over (id int PRIMARY KEY);
          INSERT INTO public.left_over VALUES (1), (2)""");
      DirectRuns.Asked asked = DirectRuns.Asked.of("left-over", "public.left_over", "id");
      away.set(true);
      assertThatThrownBy(() -> runs.run(asked)).hasStackTraceContaining("away on purpose");
      assertThat(runs.value("SELECT count(*) FROM millrace.intent")).isEqualTo("1");
      away.set(false);
      runs.execute("DELETE FROM control.lease");

      runs.byHand().accept(new Pipeline("left-over"), asked.table());
      runs.execute("INSERT INTO public.left_over VALUES (3)");
      runs.run(asked);

      assertThat(runs.values("public.left_over", "id")).containsExactly("1", "2", "3");
      assertThat(runs.objects("public.left_over"))
          .hasSize(2)
          .allSatisfy(
              object ->
                  assertThat(
                          Files.exists(
                              folder.resolve(
                                  ObjectName.manifest(folder.relativize(object).toString()))))
                      .isTrue());
    }
  }
}
