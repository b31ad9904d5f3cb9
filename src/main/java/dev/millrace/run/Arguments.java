package dev.millrace.run;

import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import io.temporal.common.converter.RawValue;

/** Reads the arguments of a workflow before anything else may trip over them. Stateless. */
public final class Arguments {
  private Arguments() {}

  /**
   * Returns the bytes of the only argument.
   *
   * @param example a file with such an input
   * @throws MillraceException with {@code BAD_INPUT} when there is none, a second one, or it is not
   *     JSON
   */
  public static byte[] only(RawValue input, RawValue unexpected, String example) {
    if (input == null) {
      throw new MillraceException(
          ErrorCode.BAD_INPUT,
          "the workflow has no input; give one JSON object, such as --input-file " + example);
    }
    if (unexpected != null) {
      throw new MillraceException(
          ErrorCode.BAD_INPUT,
          "the workflow has more than one argument; put all fields into one JSON object");
    }
    String encoding = input.getPayload().getMetadataOrThrow("encoding").toStringUtf8();
    if (!encoding.equals("json/plain")) {
      throw new MillraceException(
          ErrorCode.BAD_INPUT, "the input is %s; give a JSON object".formatted(encoding));
    }
    return input.getPayload().getData().toByteArray();
  }
}
