/** Replicate and ReplicateTable: the workflows, their activities, and the rules. */
package dev.millrace.replication;
