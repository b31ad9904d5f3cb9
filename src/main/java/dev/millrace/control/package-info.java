/** The control plane: pipelines, runs, the lease of each pipeline and the queue before it. */
package dev.millrace.control;
