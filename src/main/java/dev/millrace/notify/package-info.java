/** Messages to people. */
package dev.millrace.notify;
