/** The program: its commands, configuration, logging and wiring. */
package dev.millrace.app;
