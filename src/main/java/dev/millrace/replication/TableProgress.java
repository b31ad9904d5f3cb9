package dev.millrace.replication;

/**
 * How far a table has been copied.
 *
 * @param watermark null before the first load
 * @param baseline rows of the previous batch that counts; 0 for none
 */
record TableProgress(String watermark, long baseline) {}
