/** The embedded stack of {@code millrace dev}: real servers, on this machine only. */
package dev.millrace.dev;
