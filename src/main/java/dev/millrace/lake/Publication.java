package dev.millrace.lake;

/** What became of a staged object. */
public enum Publication {
  /** It is visible under its key. */
  PUBLISHED,
  /** Neither the upload nor an object is there. */
  GONE,
  /** Another object has its key. */
  TAKEN
}
