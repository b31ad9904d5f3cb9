package dev.millrace.parquet;

import org.apache.parquet.bytes.BytesInput;
import org.apache.parquet.compression.CompressionCodecFactory.BytesInputCompressor;
import org.apache.parquet.hadoop.metadata.CompressionCodecName;

/** Leaves pages as they are. Stateless. */
final class NoCompressor implements BytesInputCompressor {
  @Override
  public BytesInput compress(BytesInput bytes) {
    return bytes;
  }

  @Override
  public CompressionCodecName getCodecName() {
    return CompressionCodecName.UNCOMPRESSED;
  }

  @Override
  public void release() {}
}
