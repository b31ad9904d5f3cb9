/** What tests share. */
package dev.millrace.testing;
