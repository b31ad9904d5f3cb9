package dev.millrace.parquet;

import java.nio.ByteBuffer;
import org.apache.parquet.io.OutputFile;
import org.apache.parquet.io.PositionOutputStream;

/** What parquet-hadoop writes to: our sink, buffered. Not thread-safe. */
final class SinkFile implements OutputFile {
  private static final int BUFFER = 128 << 10;

  private final Stream stream;

  SinkFile(ParquetTable.Sink sink) {
    this.stream = new Stream(sink);
  }

  /** Hands what is buffered to the sink. */
  void flush() {
    stream.flush();
  }

  /** Drops what is buffered and whatever is still written. */
  void abandon() {
    stream.abandoned = true;
  }

  long position() {
    return stream.position;
  }

  @Override
  public PositionOutputStream create(long blockSizeHint) {
    return stream;
  }

  @Override
  public PositionOutputStream createOrOverwrite(long blockSizeHint) {
    return stream;
  }

  @Override
  public boolean supportsBlockSize() {
    return false;
  }

  @Override
  public long defaultBlockSize() {
    return 0;
  }

  private static final class Stream extends PositionOutputStream {
    private final ParquetTable.Sink sink;
    private final byte[] buffer = new byte[BUFFER];
    private int buffered;
    private long position;
    private boolean abandoned;

    private Stream(ParquetTable.Sink sink) {
      this.sink = sink;
    }

    @Override
    public long getPos() {
      return position;
    }

    @Override
    public void write(int value) {
      if (buffered == BUFFER) {
        flush();
      }
      buffer[buffered++] = (byte) value;
      position++;
    }

    @Override
    public void write(byte[] bytes, int offset, int length) {
      if (length > BUFFER - buffered) {
        flush();
      }
      position += length;
      if (length >= BUFFER) {
        send(bytes, offset, length);
        return;
      }
      System.arraycopy(bytes, offset, buffer, buffered, length);
      buffered += length;
    }

    @Override
    public void flush() {
      int length = buffered;
      buffered = 0;
      if (length > 0) {
        send(buffer, 0, length);
      }
    }

    private void send(byte[] bytes, int offset, int length) {
      if (!abandoned) {
        sink.write(ByteBuffer.wrap(bytes, offset, length));
      }
    }

    @Override
    public void close() {
      flush();
    }
  }
}
