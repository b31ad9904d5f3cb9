package dev.millrace.clickhouse;

import static org.assertj.core.api.Assertions.assertThat;

import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The server reads what {@link RowBinary} writes. */
class RowBinaryIT {
  private static TestDatabase database;

  @BeforeAll
  static void makeDatabase() {
    database = TestDatabase.create();
  }

  @AfterAll
  static void dropDatabase() {
    database.close();
  }

  @Test
  void everyTypeIsReadAsItWasWritten() {
    TargetTable table =
        database.create(
            "kinds",
            """
            a Int8, b UInt16, c Int32, d UInt64, e Int128, f UInt256, g Float32, h Float64, i Bool,
            j Decimal(9, 2), k Decimal(38, 4), l Decimal(76, 0), m String, n FixedString(4),
            o UUID, p Date, q Date32, r DateTime('UTC'), s DateTime64(6, 'UTC'),
            t Enum8('x' = -1, 'y' = 2), u IPv4, v Array(Nullable(Int16)),
            w LowCardinality(Nullable(String)), x Nullable(Int64)""");
    UUID uuid = UUID.fromString("61f0c404-5cb3-11e7-907b-a6006ad3dba0");
    BigInteger huge = BigInteger.TWO.pow(256).subtract(BigInteger.ONE);

    database
        .clickhouse()
        .insert(
            table.sql(),
            TestDatabase.id(),
            TestDatabase.MINUTE,
            out -> {
              RowBinary row = new RowBinary(out);
              row.int8(-128);
              row.int16(65_535);
              row.int32(Integer.MIN_VALUE);
              row.int64(-1);
              row.integer(BigInteger.TWO.pow(127).negate(), 16);
              row.integer(huge, 32);
              row.float32(0.1f);
              row.float64(-1e300);
              row.int8(1);
              row.int32(-1234);
              row.integer(new BigInteger("-12345678901234567890"), 16);
              row.integer(BigInteger.TEN.pow(75).negate(), 32);
              row.string("žodis \0 ’");
              row.fixedString("ab".getBytes(StandardCharsets.US_ASCII), 4);
              row.uuid(uuid);
              row.int16(65_535);
              row.int32(-25_567);
              row.int32(-1);
              row.int64(-1);
              row.int8(-1);
              row.int32(0x7f000001);
              row.length(2);
              row.absent();
              row.present();
              row.int16(-2);
              row.absent();
              row.present();
              row.int64(Long.MAX_VALUE);
              row.flush();
            });

    assertThat(
            database
                .clickhouse()
                .query(
                    "SELECT arrayStringConcat(arrayMap(x -> ifNull(x, 'NULL'), [toString(a), toString(b),"
                        + " toString(c), toString(d), toString(e), toString(f), toString(g), toString(h),"
                        + " toString(i), toString(j), toString(k), toString(l), hex(m), hex(n), toString(o),"
                        + " toString(p), toString(q), toString(r), toString(s), toString(t), toString(u),"
                        + " toString(v), toString(w), toString(x)]), '|') FROM "
                        + table.sql(),
                    row -> row.text(1)))
        .containsExactly(
            String.join(
                "|",
                List.of(
                    "-128",
                    "65535",
                    "-2147483648",
                    "18446744073709551615",
                    BigInteger.TWO.pow(127).negate().toString(),
                    huge.toString(),
                    "0.1",
                    "-1e300",
                    "true",
                    "-12.34",
                    "-1234567890123456.789",
                    BigInteger.TEN.pow(75).negate().toString(),
                    "C5BE6F64697320" + "00" + "20E28099",
                    "61620000",
                    uuid.toString(),
                    "2149-06-06",
                    "1900-01-01",
                    "2106-02-07 06:28:15",
                    "1969-12-31 23:59:59.999999",
                    "x",
                    "127.0.0.1",
                    "[NULL,-2]",
                    "NULL",
                    "9223372036854775807")));
  }
}
