package dev.millrace.parquet;

import com.github.luben.zstd.Zstd;
import com.github.luben.zstd.ZstdCompressCtx;
import java.nio.ByteBuffer;
import org.apache.parquet.bytes.BytesInput;
import org.apache.parquet.bytes.HeapByteBufferAllocator;
import org.apache.parquet.compression.CompressionCodecFactory.BytesInputCompressor;
import org.apache.parquet.hadoop.metadata.CompressionCodecName;

/**
 * Zstandard without Hadoop's codec classes. A result is valid until the next call. Not thread-safe.
 */
final class ZstdCompressor implements BytesInputCompressor {
  private final ZstdCompressCtx context = new ZstdCompressCtx();
  private byte[] compressed = new byte[0];

  ZstdCompressor(int level) {
    context.setLevel(level);
  }

  @Override
  public BytesInput compress(BytesInput bytes) {
    ByteBuffer source = bytes.toByteBuffer(HeapByteBufferAllocator.getInstance(), buffer -> {});
    int length = source.remaining();
    int bound = Math.toIntExact(Zstd.compressBound(length));
    if (compressed.length < bound) {
      compressed = new byte[bound];
    }
    int size =
        context.compressByteArray(
            compressed,
            0,
            compressed.length,
            source.array(),
            source.arrayOffset() + source.position(),
            length);
    return BytesInput.from(compressed, 0, size);
  }

  @Override
  public CompressionCodecName getCodecName() {
    return CompressionCodecName.ZSTD;
  }

  @Override
  public void release() {
    context.close();
  }
}
