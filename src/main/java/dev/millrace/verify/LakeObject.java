package dev.millrace.verify;

import dev.millrace.lake.ListedObject;
import dev.millrace.parquet.ParquetFile.Footer;
import dev.millrace.replication.Manifest;

/**
 * An object of a table's folder.
 *
 * @param listed its key and size
 * @param manifest beside it; null where there is none that can be read
 * @param footer null where it can't be read
 */
record LakeObject(ListedObject listed, Manifest manifest, Footer footer) {
  String key() {
    return listed.key();
  }

  long rows() {
    return footer == null ? 0 : footer.rows();
  }
}
