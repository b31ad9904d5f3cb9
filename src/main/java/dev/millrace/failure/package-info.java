/** What can go wrong: stable codes, and the one redactor that all messages pass. */
package dev.millrace.failure;
