/** The embedded stack of {@code millrace dev}: Postgres, an S3 server and Temporal on this host. */
package dev.millrace.dev;
