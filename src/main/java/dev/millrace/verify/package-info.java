/** Reads a table's lake back and proves it against Postgres, or says what differs. */
package dev.millrace.verify;
