package dev.millrace;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.UUID;

/** The rules of docs/architecture.md. */
@AnalyzeClasses(packages = "dev.millrace", importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {

  @ArchTest
  static final ArchRule WORKFLOW_CODE_IS_DETERMINISTIC =
      noClasses()
          .that()
          .haveSimpleNameEndingWith("Workflow")
          .should()
          .dependOnClassesThat(
              resideInAnyPackage("java.io..", "java.nio.file..", "java.net..", "java.sql..")
                  .and(not("java.io.IOException", "java.io.Serializable")))
          .orShould()
          .dependOnClassesThat()
          .haveFullyQualifiedName("org.slf4j.LoggerFactory")
          .orShould()
          .dependOnClassesThat()
          .haveFullyQualifiedName("java.lang.Thread")
          .orShould()
          .callConstructor(Random.class)
          .orShould()
          .callMethod(Instant.class, "now")
          .orShould()
          .callMethod(System.class, "currentTimeMillis")
          .orShould()
          .callMethod(System.class, "nanoTime")
          .orShould()
          .callMethod(UUID.class, "randomUUID");

  @ArchTest
  static final ArchRule ADAPTERS_KNOW_NOTHING_OF_TEMPORAL =
      noClasses()
          .that()
          .resideInAnyPackage(
              "..control..",
              "..postgres..",
              "..clickhouse..",
              "..parquet..",
              "..lake..",
              "..notify..",
              "..failure..")
          .should()
          .dependOnClassesThat()
          .resideInAPackage("io.temporal..");

  @ArchTest
  static void adaptersKnowNothingOfEachOther(JavaClasses imported) {
    for (String adapter : List.of("control", "postgres", "clickhouse", "lake", "notify")) {
      String own = "dev.millrace." + adapter + "..";
      classes()
          .that()
          .resideInAPackage(own)
          .should()
          .onlyDependOnClassesThat(
              resideInAPackage("dev.millrace..")
                  .negate()
                  .or(resideInAnyPackage(own, "dev.millrace.failure..")))
          .check(imported);
    }
  }

  @ArchTest
  static final ArchRule PARQUET_KNOWS_ONLY_COLUMNS =
      classes()
          .that()
          .resideInAPackage("..parquet..")
          .should()
          .onlyDependOnClassesThat(
              resideInAPackage("dev.millrace..")
                  .negate()
                  .or(resideInAnyPackage("..millrace.parquet..", "..millrace.failure.."))
                  .or(
                      DescribedPredicate.describe(
                          "a column or its type",
                          type -> type.getName().startsWith("dev.millrace.postgres.Column"))));

  @ArchTest
  static final ArchRule FAILURE_IS_THE_GROUND =
      noClasses()
          .that()
          .resideInAPackage("..failure..")
          .should()
          .dependOnClassesThat(
              resideInAPackage("dev.millrace..").and(resideInAPackage("..failure..").negate()));

  @ArchTest
  static final ArchRule KINDS_OF_RUNS_DO_NOT_KNOW_EACH_OTHER =
      noClasses()
          .that()
          .resideInAnyPackage("..millrace.run..", "..millrace.refresh..")
          .should()
          .dependOnClassesThat()
          .resideInAPackage("..millrace.replication..");

  @ArchTest
  static final ArchRule WHAT_RUNS_SHARE_KNOWS_NO_KIND_OF_RUN =
      noClasses()
          .that()
          .resideInAnyPackage("..millrace.run..", "..millrace.replication..")
          .should()
          .dependOnClassesThat()
          .resideInAPackage("..millrace.refresh..");

  @ArchTest
  static final ArchRule A_PROOF_KNOWS_WHAT_WAS_COPIED_AND_NO_RUN =
      noClasses()
          .that()
          .resideInAPackage("..millrace.verify..")
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage(
              "io.temporal..",
              "..millrace.run..",
              "..millrace.control..",
              "..millrace.refresh..",
              "..millrace.clickhouse..",
              "..millrace.notify..");

  @ArchTest
  static final ArchRule NOBODY_IMPORTS_WHAT_IS_ON_TOP =
      noClasses()
          .that()
          .resideOutsideOfPackages("..millrace.app..", "..millrace.dev..")
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage("dev.millrace.app..", "dev.millrace.dev..");

  @ArchTest
  static final ArchRule THE_EMBEDDED_STACK_DOES_NOT_KNOW_THE_PROGRAM =
      noClasses()
          .that()
          .resideInAPackage("dev.millrace.dev..")
          .should()
          .dependOnClassesThat()
          .resideInAPackage("dev.millrace.app..");

  private static DescribedPredicate<JavaClass> not(String... names) {
    return DescribedPredicate.describe(
        "other than " + String.join(", ", names),
        type -> Arrays.stream(names).noneMatch(type.getName()::equals));
  }
}
