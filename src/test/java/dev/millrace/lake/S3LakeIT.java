package dev.millrace.lake;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import software.amazon.awssdk.services.s3.model.HeadObjectResponse;

/** The lake on a real S3 server. */
class S3LakeIT extends LakeContract {
  @TempDir private static Path folder;
  private static S3TestStore store;

  private String bucket;
  private Lake lake;

  @BeforeAll
  static void startServer() {
    store = new S3TestStore(folder);
  }

  @AfterAll
  static void stopServer() {
    store.close();
  }

  @BeforeEach
  void makeBucket() {
    bucket = store.newBucket();
    lake = new S3Lake(S3TestStore.settings(bucket, store.endpoint()));
  }

  @AfterEach
  void closeLake() {
    lake.close();
  }

  @Override
  Lake lake() {
    return lake;
  }

  @Override
  List<String> listing() {
    return store.listing(bucket);
  }

  @Override
  List<String> open() {
    return store.open(bucket);
  }

  @Override
  byte[] read(String key) {
    return store.read(bucket, key);
  }

  @Test
  void anObjectSaysWhatItIsAndWhoseItIs() {
    lake.publish(staged(KEY, "a1", bytes(10)));

    HeadObjectResponse head = store.client().headObject(request -> request.bucket(bucket).key(KEY));
    assertThat(head.contentType()).isEqualTo("application/vnd.apache.parquet");
    assertThat(head.metadata()).isEqualTo(Map.of("millrace-attempt", "a1"));
  }

  @Test
  void itsPlaceIsTold() {
    assertThat(lake.location())
        .isEqualTo("s3://127.0.0.1:" + store.endpoint().getPort() + "/" + bucket);
    assertThat(lake.prefix()).isEqualTo("raw/");
    assertThat(lake.address("raw/x.parquet")).isEqualTo("s3://" + bucket + "/raw/x.parquet");
  }
}
