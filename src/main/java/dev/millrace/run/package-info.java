/**
 * What each run has in common, whatever it does: its turn, its lease, its records, its failures.
 */
package dev.millrace.run;
