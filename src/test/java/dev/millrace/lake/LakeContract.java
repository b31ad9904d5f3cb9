package dev.millrace.lake;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

/** What each lake keeps, whatever it is made of. */
abstract class LakeContract {
  static final String KEY = "raw/public/orders/20260920_181500.parquet";

  abstract Lake lake();

  /** Returns the keys that a reader's listing shows. */
  abstract List<String> listing();

  /** Returns the ids of all staged objects. */
  abstract List<String> open();

  abstract byte[] read(String key);

  static byte[] bytes(int count) {
    byte[] bytes = new byte[count];
    new Random(count).nextBytes(bytes);
    return bytes;
  }

  StagedObject staged(String key, String attempt, byte[] bytes) {
    try (StagedUpload upload = lake().stage(key, attempt)) {
      upload.write(ByteBuffer.wrap(bytes));
      return upload.finish();
    }
  }

  @Test
  void nothingIsVisibleBeforePublish() {
    byte[] content = bytes(1_000);
    StagedObject object = staged(KEY, "a1", content);

    assertThat(listing()).isEmpty();
    assertThat(lake().exists(KEY)).isFalse();
    assertThat(object.bytes()).isEqualTo(1_000);

    assertThat(lake().publish(object)).isEqualTo(Publication.PUBLISHED);

    assertThat(listing()).containsExactly(KEY);
    assertThat(lake().exists(KEY)).isTrue();
    assertThat(read(KEY)).isEqualTo(content);
    assertThat(open()).isEmpty();
  }

  @Test
  void publishingAgainFindsItPublished() {
    StagedObject object = staged(KEY, "a1", bytes(10));

    assertThat(lake().publish(object)).isEqualTo(Publication.PUBLISHED);
    assertThat(lake().publish(object)).isEqualTo(Publication.PUBLISHED);
    assertThat(listing()).containsExactly(KEY);
  }

  @Test
  void theSecondUploadOfAKeyFindsItTakenAndHarmsNothing() {
    StagedObject first = staged(KEY, "a1", bytes(10));
    StagedObject second = staged(KEY, "a2", bytes(20));

    assertThat(lake().publish(first)).isEqualTo(Publication.PUBLISHED);
    assertThat(lake().publish(second)).isEqualTo(Publication.TAKEN);
    assertThat(lake().discard(second)).isFalse();

    assertThat(read(KEY)).isEqualTo(bytes(10));
    assertThat(open()).isEmpty();
    assertThat(lake().publish(first)).isEqualTo(Publication.PUBLISHED);
  }

  @Test
  void aDiscardedObjectIsGone() {
    StagedObject object = staged(KEY, "a1", bytes(10));

    assertThat(lake().discard(object)).isFalse();
    assertThat(lake().discard(object)).isFalse();

    assertThat(open()).isEmpty();
    assertThat(lake().publish(object)).isEqualTo(Publication.GONE);
    assertThat(listing()).isEmpty();
  }

  @Test
  void discardingAPublishedObjectTellsSoAndLeavesIt() {
    StagedObject object = staged(KEY, "a1", bytes(10));
    lake().publish(object);

    assertThat(lake().discard(object)).isTrue();
    assertThat(read(KEY)).isEqualTo(bytes(10));
  }

  @Test
  void anAttemptAfterADiscardedOneIsNotTakenForIt() {
    StagedObject first = staged(KEY, "a1", bytes(10));
    lake().discard(first);
    StagedObject second = staged(KEY, "a2", bytes(10));
    lake().publish(second);

    assertThat(lake().publish(first)).isEqualTo(Publication.TAKEN);
    assertThat(lake().discard(first)).isFalse();
  }

  @Test
  void leftoversOfAKeyGoAndAllElseStays() {
    StagedObject kept = staged(KEY, "a1", bytes(10));
    staged(KEY, "a2", bytes(10));
    staged(KEY, "a3", bytes(10));
    StagedObject other = staged(KEY + ".parquet", "a4", bytes(10));

    lake().discardLeftovers(KEY, Set.of(kept.uploadId()));

    assertThat(open()).containsExactlyInAnyOrder(kept.uploadId(), other.uploadId());
    assertThat(lake().publish(kept)).isEqualTo(Publication.PUBLISHED);
  }

  @Test
  void leftoversOfAKeyThatNobodyWroteAreNone() {
    lake().discardLeftovers("raw/public/nobody/x.parquet", Set.of());

    assertThat(open()).isEmpty();
  }

  @Test
  void anUploadThatIsClosedUnfinishedLeavesNothing() {
    StagedUpload upload = lake().stage(KEY, "a1");
    upload.write(ByteBuffer.wrap(bytes(9 << 20)));
    assertThat(upload.position()).isEqualTo(9 << 20);
    upload.close();
    upload.close();

    assertThat(open()).isEmpty();
    assertThat(listing()).isEmpty();
    assertThatThrownBy(() -> upload.write(ByteBuffer.wrap(bytes(1))))
        .isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(upload::finish).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void anUploadThatIsClosedByAnInterruptedThreadLeavesNothing() {
    StagedUpload upload = lake().stage(KEY, "a1");
    upload.write(ByteBuffer.wrap(bytes(9 << 20)));
    Thread.currentThread().interrupt();
    upload.close();

    assertThat(Thread.interrupted()).isTrue();
    assertThat(open()).isEmpty();
  }

  @Test
  void closingAFinishedUploadKeepsIt() {
    StagedUpload upload = lake().stage(KEY, "a1");
    upload.write(ByteBuffer.wrap(bytes(10)));
    StagedObject object = upload.finish();
    upload.close();

    assertThat(lake().publish(object)).isEqualTo(Publication.PUBLISHED);
  }

  @Test
  void severalPartsArriveInOrder() {
    byte[] content = bytes((37 << 20) + 3);
    try (StagedUpload upload = lake().stage(KEY, "a1")) {
      ByteBuffer reused = ByteBuffer.allocate(1_000_003);
      for (int at = 0; at < content.length; at += reused.capacity()) {
        reused.clear();
        reused.put(content, at, Math.min(reused.capacity(), content.length - at)).flip();
        upload.write(reused);
        assertThat(reused.hasRemaining()).isFalse();
      }
      StagedObject object = upload.finish();
      assertThat(object.bytes()).isEqualTo(content.length);
      assertThat(lake().publish(object)).isEqualTo(Publication.PUBLISHED);
    }
    assertThat(read(KEY)).isEqualTo(content);
  }

  @Test
  void oddNamesArriveUnchanged() {
    String key = "raw/Lager Süd/a+b%20&c=d/日付.parquet";
    StagedObject object = staged(key, "a1", bytes(10));
    staged(key, "a2", bytes(10));

    assertThat(lake().publish(object)).isEqualTo(Publication.PUBLISHED);
    lake().discardLeftovers(key, Set.of());

    assertThat(listing()).containsExactly(key);
    assertThat(open()).isEmpty();
  }

  @Test
  void aSmallObjectIsWrittenAtOnceAndAgain() {
    String key = "raw/public/orders/_manifest/20260920_181500.json";
    lake().put(key, "{}".getBytes(StandardCharsets.UTF_8));
    lake().put(key, "{\"a\": 1}".getBytes(StandardCharsets.UTF_8));

    assertThat(listing()).containsExactly(key);
    assertThat(read(key)).asString(StandardCharsets.UTF_8).isEqualTo("{\"a\": 1}");
    assertThat(open()).isEmpty();
  }

  @Test
  void aFolderIsListedWithoutWhatIsStagedOrInFoldersInsideIt() {
    lake().publish(staged("raw/public/orders/b.parquet", "a1", bytes(20)));
    lake().publish(staged("raw/public/orders/a.parquet", "a2", bytes(10)));
    lake().publish(staged("raw/public/orders2/c.parquet", "a3", bytes(10)));
    lake().put("raw/public/orders/_manifest/a.json", bytes(5));
    staged("raw/public/orders/d.parquet", "a4", bytes(10));

    assertThat(lake().list("raw/public/orders/"))
        .containsExactly(
            new ListedObject("raw/public/orders/a.parquet", 10),
            new ListedObject("raw/public/orders/b.parquet", 20));
    assertThat(lake().list("raw/public/orders/_manifest/"))
        .containsExactly(new ListedObject("raw/public/orders/_manifest/a.json", 5));
    assertThat(lake().list("raw/public/nothing/")).isEmpty();
  }

  @Test
  void aFolderOfMoreThanOnePageIsListedWhole() {
    for (int i = 0; i < 1_050; i++) {
      lake().put("raw/public/many/%04d.json".formatted(i), bytes(1));
    }

    List<ListedObject> listed = lake().list("raw/public/many/");

    assertThat(listed).hasSize(1_050);
    assertThat(listed.get(1_049).key()).isEqualTo("raw/public/many/1049.json");
  }

  @Test
  void anObjectIsReadInPartsAndWhole() throws IOException {
    byte[] content = bytes((9 << 20) + 7);
    lake().publish(staged(KEY, "a1", content));

    assertThat(lake().read(KEY, 0, 4)).isEqualTo(Arrays.copyOf(content, 4));
    assertThat(lake().read(KEY, content.length - 8, 8))
        .isEqualTo(Arrays.copyOfRange(content, content.length - 8, content.length));
    try (InputStream whole = lake().open(KEY)) {
      assertThat(whole.readAllBytes()).isEqualTo(content);
    }
  }

  @Test
  void whatIsGoneOrTooShortIsSaidToBe() {
    lake().publish(staged(KEY, "a1", bytes(10)));

    assertThatThrownBy(() -> lake().read(KEY, 5, 6))
        .isInstanceOfSatisfying(
            MillraceException.class,
            failure -> assertThat(failure.code()).isEqualTo(ErrorCode.LAKE_REFUSED));
    for (ThrowingCallable reading :
        List.<ThrowingCallable>of(
            () -> lake().read(KEY + "x", 0, 1), () -> lake().open(KEY + "x"))) {
      assertThatThrownBy(reading)
          .isInstanceOfSatisfying(
              MillraceException.class,
              failure -> {
                assertThat(failure.code()).isEqualTo(ErrorCode.LAKE_REFUSED);
                assertThat(failure).hasMessageContaining(KEY + "x").hasMessageContaining("removed");
              });
    }
  }

  @Test
  void aProbeLeavesNothing() {
    lake().probe();

    assertThat(listing()).isEmpty();
    assertThat(open()).isEmpty();
  }
}
