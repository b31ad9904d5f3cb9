/** Connections, catalogue, and snapshot reads over binary COPY. */
package dev.millrace.postgres;
