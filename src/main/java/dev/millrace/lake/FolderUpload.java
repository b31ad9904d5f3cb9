package dev.millrace.lake;

import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;

/** A file in the making. Not thread-safe; one attempt writes it. */
final class FolderUpload implements StagedUpload {
  private final FolderLake lake;
  private final String key;
  private final String attempt;
  private final Path part;
  private final String uploadId;
  private final FileChannel channel;
  private long position;
  private boolean finished;
  private boolean closed;

  FolderUpload(
      FolderLake lake,
      String key,
      String attempt,
      Path part,
      String uploadId,
      FileChannel channel) {
    this.lake = lake;
    this.key = key;
    this.attempt = attempt;
    this.part = part;
    this.uploadId = uploadId;
    this.channel = channel;
  }

  @Override
  public String uploadId() {
    return uploadId;
  }

  @Override
  public void write(ByteBuffer bytes) {
    checkOpen();
    lake.call(
        "writing",
        key,
        () -> {
          while (bytes.hasRemaining()) {
            position += channel.write(bytes);
          }
          return null;
        });
  }

  @Override
  public long position() {
    return position;
  }

  @Override
  public StagedObject finish() {
    checkOpen();
    lake.call(
        "finishing",
        key,
        () -> {
          channel.force(true);
          channel.close();
          return null;
        });
    finished = true;
    return new StagedObject(key, uploadId, attempt, position);
  }

  private void checkOpen() {
    if (finished || closed) {
      throw new IllegalStateException("The upload of " + key + " has ended.");
    }
  }

  @Override
  public void close() {
    if (finished || closed) {
      return;
    }
    closed = true;
    lake.call(
        "discarding",
        key,
        () -> {
          channel.close();
          Files.deleteIfExists(part);
          return null;
        });
  }
}
