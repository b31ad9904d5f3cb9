package dev.millrace.parquet;

import com.github.luben.zstd.Zstd;
import java.io.IOException;
import java.nio.ByteBuffer;
import org.apache.parquet.bytes.BytesInput;
import org.apache.parquet.bytes.HeapByteBufferAllocator;
import org.apache.parquet.compression.CompressionCodecFactory;
import org.apache.parquet.hadoop.metadata.CompressionCodecName;
import org.xerial.snappy.Snappy;

/** Reads pages without Hadoop's codec classes. Stateless. */
final class Decompression implements CompressionCodecFactory {
  @Override
  public BytesInputCompressor getCompressor(CompressionCodecName codec) {
    throw new UnsupportedOperationException("this only reads");
  }

  @Override
  public BytesInputDecompressor getDecompressor(CompressionCodecName codec) {
    return switch (codec) {
      case ZSTD -> new Decompressor(Zstd::decompress);
      case SNAPPY -> new Decompressor((bytes, size) -> Snappy.uncompress(bytes));
      case UNCOMPRESSED -> new Decompressor((bytes, size) -> bytes);
      case GZIP, LZO, BROTLI, LZ4, LZ4_RAW ->
          throw new UnsupportedOperationException("Millrace does not write " + codec);
    };
  }

  @Override
  public void release() {}

  @FunctionalInterface
  private interface Decoding {
    byte[] decode(byte[] bytes, int size) throws IOException;
  }

  private record Decompressor(Decoding decoding) implements BytesInputDecompressor {
    @Override
    public BytesInput decompress(BytesInput bytes, int size) throws IOException {
      ByteBuffer source = bytes.toByteBuffer(HeapByteBufferAllocator.getInstance(), buffer -> {});
      byte[] compressed = new byte[source.remaining()];
      source.get(compressed);
      return BytesInput.from(decoding.decode(compressed, size));
    }

    @Override
    public void decompress(ByteBuffer input, int compressed, ByteBuffer output, int size)
        throws IOException {
      byte[] bytes = new byte[compressed];
      input.get(bytes);
      output.put(decoding.decode(bytes, size));
    }

    @Override
    public void release() {}
  }
}
