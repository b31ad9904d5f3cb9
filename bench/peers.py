"""The other tools of the field, each of which copies one table of Postgres to one Parquet file.

Run by the Python of the bench's environment, one process a copy: `peers.py NAME TABLE FILE` with the
database in BENCH_POSTGRES. Each tool does it as its documentation shows, streaming where it can, with
zstd, and without a setting that only this machine would want. `peers.py read FILE` reads a file back.
"""
import json
import os
import sys
import urllib.parse

# What pip installs, pinned. pyarrow is also the reader.
PACKAGES = [
    'duckdb==1.5.5', 'duckdb-extension-postgres-scanner==1.5.5', 'chdb==4.4.0', 'connectorx==0.4.6', 'pyarrow==26.0.1',
    'adbc-driver-manager==1.13.0', 'adbc-driver-postgresql==1.13.0', 'sling==1.4.11', 'sling-linux-amd64==1.4.11']

BATCH_ROWS = 65_536


def quoted(table):
    return '.'.join(f'"{part}"' for part in table.split('.'))


def write(batches, file):
    import pyarrow.parquet
    with pyarrow.parquet.ParquetWriter(file, batches.schema, compression='zstd') as writer:
        for batch in batches:
            writer.write_batch(batch)


def duckdb(url, table, file):
    import duckdb
    import duckdb_extension_postgres_scanner as extension
    loaded = f'{extension.__path__[0]}/extensions/v{duckdb.__version__}/postgres_scanner.duckdb_extension'
    with duckdb.connect() as database:
        database.execute(f"LOAD '{loaded}'")
        database.execute(f"ATTACH '{url}' AS source (TYPE postgres, READ_ONLY)")
        database.execute(
            f"COPY (SELECT * FROM source.{quoted(table)}) TO '{file}' (FORMAT parquet, COMPRESSION zstd)")


def chdb(url, table, file):
    import chdb
    at = urllib.parse.urlsplit(url)
    schema, name = table.split('.')
    chdb.query(
        f"INSERT INTO FUNCTION file('{file}', 'Parquet') SELECT * FROM postgresql("
        f"'{at.hostname}:{at.port}', '{at.path[1:]}', '{name}', '{at.username}', '{at.password}', '{schema}') "
        "SETTINGS output_format_parquet_compression_method = 'zstd'")


def connectorx(url, table, file):
    import connectorx
    write(
        connectorx.read_sql(
            url, f'SELECT * FROM {quoted(table)}', return_type='arrow_stream', batch_size=BATCH_ROWS),
        file)


def adbc(url, table, file):
    from adbc_driver_postgresql import dbapi
    with dbapi.connect(url) as connection, connection.cursor() as cursor:
        cursor.execute(f'SELECT * FROM {quoted(table)}')
        write(cursor.fetch_record_batch(), file)


def sling(url, table, file):
    """Its own Go writer: its default one downloads a DuckDB of another version."""
    import sling_linux_amd64
    os.environ.update(SOURCE=url, SLING_DUCKDB_COMPUTE='false', SLING_HOME_DIR=os.path.dirname(file))
    # In the place of this process, so that it is the one that is measured.
    os.execv(sling_linux_amd64.SLING_BIN, [
        'sling', 'run', '--src-conn', 'SOURCE', '--src-stream', table, '--tgt-object', f'file://{file}',
        '--tgt-options', '{format: parquet, compression: zstd}'])


def opened(place):
    """Returns the Parquet file at a path, or at s3://bucket/key of the server in the environment."""
    import pyarrow.parquet
    if not place.startswith('s3://'):
        return pyarrow.parquet.ParquetFile(place)
    import pyarrow.fs
    server = pyarrow.fs.S3FileSystem(
        access_key=os.environ['AWS_ACCESS_KEY_ID'], secret_key=os.environ['AWS_SECRET_ACCESS_KEY'],
        endpoint_override=os.environ['S3_ENDPOINT'], region=os.environ['AWS_REGION'], scheme='http')
    return pyarrow.parquet.ParquetFile(server.open_input_file(place[len('s3://'):]))


def read(place):
    """Prints what a file holds, of its pages and not of its footer: rows, NULLs a column, the sum of the ids."""
    file = opened(place)
    columns = file.schema_arrow.names
    nulls, rows, ids = dict.fromkeys(columns, 0), 0, 0
    for batch in file.iter_batches(batch_size=BATCH_ROWS):
        rows += batch.num_rows
        for name, column in zip(columns, batch.columns):
            nulls[name] += column.null_count
            if name == 'id':
                ids += sum(map(int, column.to_pylist())) if column.type != 'int64' else summed(column)
    print(json.dumps({'rows': rows, 'nulls': nulls, 'ids': ids}))


def summed(column):
    import pyarrow.compute
    return pyarrow.compute.sum(column).as_py() or 0


def main():
    name, *arguments = sys.argv[1:]
    if name == 'read':
        read(*arguments)
    else:
        {'duckdb': duckdb, 'chdb': chdb, 'connectorx': connectorx, 'adbc': adbc, 'sling': sling}[name](
            os.environ['BENCH_POSTGRES'], *arguments)


if __name__ == '__main__':
    main()
