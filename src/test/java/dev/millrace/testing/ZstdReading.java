package dev.millrace.testing;

import com.github.luben.zstd.Zstd;
import java.io.IOException;
import java.nio.ByteBuffer;
import org.apache.parquet.bytes.BytesInput;
import org.apache.parquet.bytes.HeapByteBufferAllocator;
import org.apache.parquet.compression.CompressionCodecFactory;
import org.apache.parquet.hadoop.metadata.CompressionCodecName;

/** Lets parquet-java read zstd without Hadoop's class path. Stateless. */
public final class ZstdReading implements CompressionCodecFactory {
  @Override
  public BytesInputCompressor getCompressor(CompressionCodecName codec) {
    throw new UnsupportedOperationException();
  }

  @Override
  public BytesInputDecompressor getDecompressor(CompressionCodecName codec) {
    if (codec != CompressionCodecName.ZSTD) {
      throw new UnsupportedOperationException(codec.name());
    }
    return new Decompressor();
  }

  @Override
  public void release() {}

  private static final class Decompressor implements BytesInputDecompressor {
    @Override
    public BytesInput decompress(BytesInput bytes, int size) {
      ByteBuffer source = bytes.toByteBuffer(HeapByteBufferAllocator.getInstance(), buffer -> {});
      byte[] compressed = new byte[source.remaining()];
      source.get(compressed);
      return BytesInput.from(Zstd.decompress(compressed, size));
    }

    @Override
    public void decompress(ByteBuffer input, int compressed, ByteBuffer output, int size)
        throws IOException {
      byte[] bytes = new byte[compressed];
      input.get(bytes);
      output.put(Zstd.decompress(bytes, size));
    }

    @Override
    public void release() {}
  }
}
