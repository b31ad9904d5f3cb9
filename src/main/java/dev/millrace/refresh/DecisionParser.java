package dev.millrace.refresh;

import com.google.protobuf.ByteString;
import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import dev.millrace.run.InputFields;
import io.temporal.common.converter.RawValue;
import java.util.List;

/** Reads the body of a signal or an update strictly. */
final class DecisionParser {
  private static final String EXAMPLE =
      "{\"approved\": true, \"by\": \"you\", \"reason\": \"why\", \"digest\": \"of the question\"}";
  private static final List<String> FIELDS = List.of("approved", "reason", "by", "digest");
  private static final int MOST_TEXT = 1_000;

  private DecisionParser() {}

  /**
   * Reads a decision.
   *
   * @throws MillraceException with {@code BAD_INPUT}
   */
  static Decision parse(RawValue body) {
    if (body == null
        || !body.getPayload()
            .getMetadataOrDefault("encoding", ByteString.EMPTY)
            .toStringUtf8()
            .equals("json/plain")) {
      throw InputFields.refused("the decision is not a JSON object; give one, such as " + EXAMPLE);
    }
    InputFields fields =
        InputFields.parse(body.getPayload().getData().toByteArray(), "the decision", EXAMPLE);
    fields.refuseUnknown(FIELDS);
    String by = fields.text("by", null);
    if (by == null) {
      throw InputFields.refused("the decision has no field by; say who decides");
    }
    boolean reasoned = fields.has("reason") && !fields.get("reason").asText().isEmpty();
    return new Decision(
        fields.flag("approved", false),
        cut(reasoned ? fields.text("reason", "") : ""),
        cut(by),
        fields.text("digest", null));
  }

  private static String cut(String text) {
    if (text.length() > MOST_TEXT) {
      throw new MillraceException(
          ErrorCode.BAD_INPUT,
          "a text of the decision has %d characters; %d are the most"
              .formatted(text.length(), MOST_TEXT));
    }
    return text;
  }
}
