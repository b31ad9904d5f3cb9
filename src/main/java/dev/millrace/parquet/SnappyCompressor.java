package dev.millrace.parquet;

import java.io.IOException;
import java.nio.ByteBuffer;
import org.apache.parquet.bytes.BytesInput;
import org.apache.parquet.bytes.HeapByteBufferAllocator;
import org.apache.parquet.compression.CompressionCodecFactory.BytesInputCompressor;
import org.apache.parquet.hadoop.metadata.CompressionCodecName;
import org.xerial.snappy.Snappy;

/**
 * Snappy without Hadoop's codec classes. A result is valid until the next call. Not thread-safe.
 */
final class SnappyCompressor implements BytesInputCompressor {
  private byte[] compressed = new byte[0];

  @Override
  public BytesInput compress(BytesInput bytes) throws IOException {
    ByteBuffer source = bytes.toByteBuffer(HeapByteBufferAllocator.getInstance(), buffer -> {});
    int length = source.remaining();
    int bound = Snappy.maxCompressedLength(length);
    if (compressed.length < bound) {
      compressed = new byte[bound];
    }
    int size =
        Snappy.compress(
            source.array(), source.arrayOffset() + source.position(), length, compressed, 0);
    return BytesInput.from(compressed, 0, size);
  }

  @Override
  public CompressionCodecName getCodecName() {
    return CompressionCodecName.SNAPPY;
  }

  @Override
  public void release() {}
}
