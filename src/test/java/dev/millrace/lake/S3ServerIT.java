package dev.millrace.lake;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.dev.S3Server;
import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The embedded server keeps what a lake gave it. */
class S3ServerIT {
  @TempDir private Path folder;

  private S3Server start(int port) {
    Credentials keys = S3TestStore.KEYS;
    return S3Server.start(folder, port, keys.accessKeyId(), keys.secretAccessKey());
  }

  private static StagedObject staged(Lake lake, String key) {
    try (StagedUpload upload = lake.stage(key, "a1")) {
      upload.write(ByteBuffer.wrap(LakeContract.bytes(10)));
      return upload.finish();
    }
  }

  @Test
  void objectsAndOpenUploadsSurviveARestart() {
    StagedObject published;
    StagedObject open;
    int port;
    try (S3Server server = start(0)) {
      port = server.endpoint().getPort();
      server.createBucket("kept");
      server.createBucket("kept");
      try (Lake lake = new S3Lake(S3TestStore.settings("kept", server.endpoint()))) {
        published = staged(lake, "raw/1.parquet");
        lake.publish(published);
        open = staged(lake, "raw/2.parquet");
      }
    }
    try (S3Server server = start(port);
        Lake lake = new S3Lake(S3TestStore.settings("kept", server.endpoint()))) {
      assertThat(server.endpoint().getPort()).isEqualTo(port);
      server.createBucket("kept");
      assertThat(lake.publish(published)).isEqualTo(Publication.PUBLISHED);
      assertThat(lake.exists(open.key())).isFalse();
      assertThat(lake.publish(open)).isEqualTo(Publication.PUBLISHED);
    }
  }

  @Test
  void aPortInUseIsNamed() {
    try (S3Server server = start(0)) {
      int port = server.endpoint().getPort();
      assertThatThrownBy(() -> start(port))
          .isInstanceOfSatisfying(
              MillraceException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.STACK_FAILED))
          .hasMessageContaining("port " + port);
    }
  }
}
