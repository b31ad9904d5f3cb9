/** RefreshDimension: the workflow, its activities, and the rules. */
package dev.millrace.refresh;
