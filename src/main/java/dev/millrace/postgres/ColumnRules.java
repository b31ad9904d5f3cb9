package dev.millrace.postgres;

/**
 * What becomes of types and values that Parquet's natural type can't hold. Where they are what a
 * person says of one column, a null is what is not said.
 *
 * @param numeric of a {@code numeric} without precision, above 38 digits, or with a scale that is
 *     negative or above the precision
 * @param nan of NaN, Infinity and -Infinity in a DECIMAL
 * @param infinity of {@code infinity} and {@code -infinity} in a date or timestamp
 * @param arrays of arrays
 */
public record ColumnRules(Numeric numeric, Nan nan, Infinity infinity, Arrays arrays) {

  /** What holds unless somebody says otherwise. */
  public static final ColumnRules DEFAULT =
      new ColumnRules(new Numeric(NumericForm.TEXT, 0, 0), Nan.FAIL, Infinity.FAIL, Arrays.LIST);

  /** What a numeric that DECIMAL can't hold is read as. */
  public enum NumericForm {
    TEXT,
    DECIMAL,
    FAIL
  }

  /**
   * What a numeric that DECIMAL can't hold is read as.
   *
   * @param precision digits of the DECIMAL, 1 to 38; 0 for others
   * @param scale its fraction digits, 0 to the precision; 0 for others
   */
  public record Numeric(NumericForm form, int precision, int scale) {}

  /** What becomes of NaN and infinities in a DECIMAL; the table fails, or they become NULL. */
  public enum Nan {
    FAIL,
    NULL
  }

  /**
   * What becomes of infinity in a date or timestamp; the table fails, or it becomes NULL, or the
   * first or last value of the type's range in Parquet.
   */
  public enum Infinity {
    FAIL,
    NULL,
    CLAMP
  }

  /** What an array is read as: a list of its elements, or one text. */
  public enum Arrays {
    LIST,
    TEXT
  }

  /** Returns these rules, and those of others where nothing is said. */
  public ColumnRules orElse(ColumnRules others) {
    return new ColumnRules(
        numeric == null ? others.numeric : numeric,
        nan == null ? others.nan : nan,
        infinity == null ? others.infinity : infinity,
        arrays == null ? others.arrays : arrays);
  }
}
