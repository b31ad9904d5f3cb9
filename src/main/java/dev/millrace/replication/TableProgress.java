package dev.millrace.replication;

/**
 * How far a table has been copied.
 *
 * @param watermark null before the first load
 * @param reading the attempt of the last reading; null for none
 * @param firstLoadTo where a first load was to end that has not; null otherwise
 * @param baseline rows of the previous batch that counts; 0 for none
 */
record TableProgress(String watermark, String reading, String firstLoadTo, long baseline) {}
