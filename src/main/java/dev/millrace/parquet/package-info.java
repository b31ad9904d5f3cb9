/** Postgres types as Parquet types, and the writer that turns a binary COPY into a Parquet file. */
package dev.millrace.parquet;
