package dev.millrace.lake;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FolderLakeTest extends LakeContract {
  private static final String PART = ".part";

  @TempDir private Path folder;

  @Override
  Lake lake() {
    return new FolderLake(new FolderLakeSettings("local", folder, "raw"));
  }

  private List<Path> files() {
    try (Stream<Path> files = Files.walk(folder)) {
      return files.filter(Files::isRegularFile).toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  List<String> listing() {
    return files().stream()
        .map(file -> folder.relativize(file).toString())
        .filter(name -> !name.endsWith(PART))
        .toList();
  }

  @Override
  List<String> open() {
    return files().stream()
        .filter(file -> file.toString().endsWith(PART))
        .map(
            file -> {
              String name = file.getFileName().toString();
              String start = name.substring(0, name.length() - PART.length());
              return start.substring(start.lastIndexOf('.') + 1) + "-" + inode(file);
            })
        .toList();
  }

  private static Object inode(Path file) {
    try {
      return Files.getAttribute(file, "unix:ino");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  byte[] read(String key) {
    try {
      return Files.readAllBytes(folder.resolve(key));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private Path part(StagedObject object) {
    return folder.resolve(object.key() + "." + object.attempt() + PART);
  }

  @Test
  void aCrashBetweenTheTwoNamesIsTidiedUp() throws IOException {
    StagedObject object = staged(KEY, "a1", bytes(10));
    Files.createLink(folder.resolve(KEY), part(object));

    assertThat(lake().publish(object)).isEqualTo(Publication.PUBLISHED);
    assertThat(open()).isEmpty();
    assertThat(read(KEY)).isEqualTo(bytes(10));
  }

  @Test
  void discardAfterACrashBetweenTheTwoNamesKeepsThePublishedFile() throws IOException {
    StagedObject object = staged(KEY, "a1", bytes(10));
    Files.createLink(folder.resolve(KEY), part(object));

    assertThat(lake().discard(object)).isTrue();
    assertThat(read(KEY)).isEqualTo(bytes(10));
    assertThat(open()).isEmpty();
  }

  @Test
  void aForeignFileIsNeverReplaced() throws IOException {
    StagedObject object = staged(KEY, "a1", bytes(10));
    Files.writeString(folder.resolve(KEY), "foreign");

    assertThat(lake().publish(object)).isEqualTo(Publication.TAKEN);
    assertThat(read(KEY)).asString().isEqualTo("foreign");
    assertThat(lake().discard(object)).isFalse();
  }

  @Test
  void aCopyThatLostTheInodeIsNotOurs() throws IOException {
    StagedObject object = staged(KEY, "a1", bytes(10));
    Files.copy(part(object), folder.resolve(KEY));

    assertThat(lake().publish(object)).isEqualTo(Publication.TAKEN);
  }

  @Test
  void aPartThatWasCutShortIsThrownAway() throws IOException {
    StagedObject object = staged(KEY, "a1", bytes(10));
    Files.write(part(object), bytes(9));

    assertThat(lake().publish(object)).isEqualTo(Publication.GONE);
    assertThat(open()).isEmpty();
    assertThat(listing()).isEmpty();
  }

  @Test
  void anObjectCanBePublishedByAnotherLakeOverTheFolder() {
    StagedObject object = staged(KEY, "a1", bytes(10));

    assertThat(lake()).isNotSameAs(lake());
    assertThat(lake().publish(object)).isEqualTo(Publication.PUBLISHED);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"../out.parquet", "raw/../../out.parquet", "raw/./x", "/etc/x", "", "raw/", "."})
  void aKeyStaysInsideTheFolder(String key) {
    Lake lake = lake();
    assertThatThrownBy(() -> lake.stage(key, "a1"))
        .isInstanceOfSatisfying(
            MillraceException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.LAKE_REFUSED))
        .hasMessageContaining(folder.toString());
    assertThatThrownBy(() -> lake.discardLeftovers(key, Set.of()))
        .isInstanceOf(MillraceException.class);
  }

  @Test
  void aFileInPlaceOfAFolderIsNamed() throws IOException {
    Files.writeString(folder.resolve("raw"), "in the way");

    assertThatThrownBy(lake()::probe)
        .isInstanceOf(MillraceException.class)
        .hasMessageContaining(folder.resolve("raw").toString());
  }

  @Test
  void anAttemptNeverWritesIntoTheFileOfAnother() {
    StagedUpload upload = lake().stage(KEY, "a1");
    upload.write(ByteBuffer.wrap(bytes(10)));

    assertThatThrownBy(() -> lake().stage(KEY, "a1")).isInstanceOf(MillraceException.class);
    assertThat(lake().publish(upload.finish())).isEqualTo(Publication.PUBLISHED);
  }

  @Test
  void itsPlaceIsTold() {
    assertThat(lake().location()).isEqualTo("file://" + folder);
    assertThat(lake().prefix()).isEqualTo("raw/");
    assertThat(lake().address("raw/x.parquet")).isEqualTo("file://" + folder + "/raw/x.parquet");
  }
}
