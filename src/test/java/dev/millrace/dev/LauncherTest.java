package dev.millrace.dev;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The launcher script with a JDK and a Maven that only say what they were asked. */
class LauncherTest {
  @TempDir Path folder;

  private Path home;
  private Path java;

  @BeforeEach
  void layOut() throws IOException {
    home = Files.createDirectories(folder.resolve("a clone"));
    Files.copy(Path.of("millrace"), home.resolve("millrace"));
    java = jdk("17.0.1");
    script(
        folder.resolve("tools/mvn"),
        "echo \"mvn $*\"; mkdir -p target/lib; touch target/millrace.jar");
  }

  @Test
  void itBuildsOnceAndThenStartsTheJvm() throws Exception {
    Outcome first = run(home.resolve("millrace"), Map.of(), "worker", "--config", "a b");
    assertThat(first.code()).isEqualTo(7);
    assertThat(first.text())
        .contains("nothing is built yet")
        .contains("mvn -q -B -DskipTests package")
        .contains("<dev.millrace.app.Main>\n<worker>\n<--config>\n<a b>\n")
        .contains("<" + home.resolve("target/millrace.jar") + ":" + home + "/target/lib/*>");
    Outcome second = run(home.resolve("millrace"), Map.of(), "worker");
    assertThat(second.text()).doesNotContain("mvn").contains("<worker>");
  }

  @Test
  void itFindsItsHomeThroughASymbolicLink() throws Exception {
    Path link = Files.createSymbolicLink(folder.resolve("millrace"), Path.of("a clone/millrace"));
    assertThat(run(link, Map.of(), "dev").text()).contains(home + "/target/lib/*");
  }

  @Test
  void optionsForTheJvmAreSplit() throws Exception {
    Outcome outcome = run(home.resolve("millrace"), Map.of("MILLRACE_JAVA_OPTS", "-Xmx1g -Da=b"));
    assertThat(outcome.text()).contains("<-Xmx1g>\n<-Da=b>\n").doesNotContain("native-access");
  }

  @Test
  void anOptionThatTheJvmDoesNotKnowIsRefused() throws Exception {
    java = Path.of(System.getProperty("java.home"));
    layOutJar("one build");
    Outcome outcome =
        run(home.resolve("millrace"), Map.of("MILLRACE_JAVA_OPTS", "-XX:NoSuchOption=1"));
    assertThat(outcome.code()).isEqualTo(1);
    assertThat(outcome.text()).contains("Unrecognized VM option 'NoSuchOption=1'");
  }

  @Test
  void aNewerJvmIsToldThatNativeAccessIsWanted() throws Exception {
    java = jdk("25.0.3");
    assertThat(run(home.resolve("millrace"), Map.of()).text())
        .contains("<--enable-native-access=ALL-UNNAMED>");
  }

  @Test
  void anOlderJvmIsRefused() throws Exception {
    java = jdk("1.8.0_292");
    Outcome outcome = run(home.resolve("millrace"), Map.of());
    assertThat(outcome.code()).isEqualTo(1);
    assertThat(outcome.text()).contains("Millrace needs a JDK 17 or newer");
  }

  @Test
  void aBuildThatFailsEndsIt() throws Exception {
    script(folder.resolve("tools/mvn"), "echo 'no such artefact'; exit 1");
    Outcome outcome = run(home.resolve("millrace"), Map.of());
    assertThat(outcome.code()).isEqualTo(1);
    assertThat(outcome.text()).contains("no such artefact").contains("the build failed");
  }

  @Test
  void theClassesOfAWorkerAreNotedOnceForEachBuildAndJvm() throws Exception {
    java =
        jdk(
            "17.0.2",
            "for option; do case $option in -XX:ArchiveClassesAtExit=*)"
                + " echo classes >\"${option#*=}\"; exit 0 ;; esac; done; ");
    layOutJar("one build");
    assertThat(run(home.resolve("millrace"), Map.of(), "fleet").text())
        .doesNotContain("noting")
        .doesNotContain("SharedArchiveFile");
    Outcome first = run(home.resolve("millrace"), Map.of(), "worker");
    assertThat(first.code()).isEqualTo(7);
    assertThat(first.text()).contains("noting").contains("<-XX:SharedArchiveFile=" + cache());
    assertThat(run(home.resolve("millrace"), Map.of(), "fleet").text())
        .doesNotContain("noting")
        .contains("<-XX:SharedArchiveFile=" + archives().get(0) + ">\n<-Xlog:cds*=off>\n");
    List<Path> old = archives();
    layOutJar("another build");
    assertThat(run(home.resolve("millrace"), Map.of(), "worker").text()).contains("noting");
    assertThat(archives()).hasSize(1).doesNotContainAnyElementsOf(old);
    java = jdk("21.0.1");
    assertThat(run(home.resolve("millrace"), Map.of(), "fleet").text())
        .doesNotContain("SharedArchiveFile");
  }

  @Test
  void aJvmThatCantNoteClassesIsAskedOnceAndStartsWithout() throws Exception {
    layOutJar("one build");
    Outcome first = run(home.resolve("millrace"), Map.of(), "worker");
    assertThat(first.text()).contains("noting").contains("<worker>");
    Outcome second = run(home.resolve("millrace"), Map.of(), "worker");
    assertThat(second.text()).doesNotContain("noting").doesNotContain("SharedArchiveFile");
  }

  @Test
  void noClassesAreNotedWhereTheUserHasAWordOnThem() throws Exception {
    layOutJar("one build");
    Map<String, String> off = Map.of("MILLRACE_JAVA_OPTS", "-Xshare:off");
    assertThat(run(home.resolve("millrace"), off, "worker").text()).doesNotContain("noting");
    Path file = Files.createFile(folder.resolve("no folder"));
    Map<String, String> unusable = Map.of("MILLRACE_CACHE", file.toString());
    assertThat(run(home.resolve("millrace"), unusable, "worker").text())
        .doesNotContain("noting")
        .contains("<worker>");
    assertThat(cache()).doesNotExist();
  }

  private Path cache() {
    return folder.resolve("cache");
  }

  private List<Path> archives() throws IOException {
    try (Stream<Path> files = Files.list(cache())) {
      return files.toList();
    }
  }

  private void layOutJar(String content) throws IOException {
    Files.createDirectories(home.resolve("target/lib"));
    Files.writeString(home.resolve("target/millrace.jar"), content);
  }

  private record Outcome(int code, String text) {}

  private Outcome run(Path launcher, Map<String, String> environment, String... arguments)
      throws Exception {
    ProcessBuilder builder = new ProcessBuilder(launcher.toString());
    builder.command().addAll(List.of(arguments));
    builder.environment().put("JAVA_HOME", java.toString());
    builder.environment().merge("PATH", folder.resolve("tools") + ":", (old, own) -> own + old);
    builder.environment().remove("MILLRACE_JAVA_OPTS");
    builder.environment().put("MILLRACE_CACHE", cache().toString());
    builder.environment().putAll(environment);
    Process process = builder.directory(folder.toFile()).redirectErrorStream(true).start();
    String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    return new Outcome(process.waitFor(), text);
  }

  private Path jdk(String version) throws IOException {
    return jdk(version, "");
  }

  private Path jdk(String version, String first) throws IOException {
    Path jdk = Files.createDirectories(folder.resolve("jdk-" + version)).toRealPath();
    Files.writeString(jdk.resolve("release"), "JAVA_VERSION=\"" + version + "\"\n");
    script(jdk.resolve("bin/java"), first + "printf '<%s>\\n' \"$@\"; exit 7");
    return jdk;
  }

  private static void script(Path path, String text) throws IOException {
    Files.createDirectories(path.getParent());
    Files.writeString(path, "#!/bin/sh\n" + text + "\n");
    Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("rwx------"));
  }
}
