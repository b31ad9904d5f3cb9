/** Where objects are staged and published: S3 and a local folder. */
package dev.millrace.lake;
