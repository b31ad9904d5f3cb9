package dev.millrace.control;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectReader;
import com.fasterxml.jackson.databind.cfg.JsonNodeFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Lines of a log after they were read as JSON.
 *
 * @param lines those that may be shipped, in order
 * @param refused those that can't be
 */
record WalBatch(List<WalLine> lines, List<WalLine.Refused> refused) {

  // Strict, because a damaged line must not pass as another one; without limits on length, because
  // the line's own is known.
  private static final ObjectReader READER =
      JsonMapper.builder(
              JsonFactory.builder()
                  .streamReadConstraints(
                      StreamReadConstraints.builder()
                          .maxNumberLength(WalFormat.LONGEST_LINE)
                          .maxStringLength(WalFormat.LONGEST_LINE)
                          .maxNameLength(WalFormat.LONGEST_LINE)
                          .build())
                  .build())
          .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
          .enable(DeserializationFeature.FAIL_ON_READING_DUP_TREE_KEY)
          .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
          .disable(JsonNodeFeature.STRIP_TRAILING_BIGDECIMAL_ZEROES)
          .build()
          .reader();

  /** Reads lines; blank ones are passed over. */
  static WalBatch of(List<WalTail.Line> lines) {
    List<WalLine> good = new ArrayList<>(lines.size());
    List<WalLine.Refused> refused = new ArrayList<>();
    for (WalTail.Line line : lines) {
      if (line.content() != null && line.content().isBlank()) {
        continue;
      }
      try {
        good.add(new WalLine(line.offset(), line.bytes(), fields(line)));
      } catch (UnreadableException exception) {
        refused.add(new WalLine.Refused(line.offset(), line.bytes(), exception.getMessage()));
      }
    }
    return new WalBatch(good, refused);
  }

  private static ObjectNode fields(WalTail.Line line) throws UnreadableException {
    if (line.content() == null) {
      throw new UnreadableException("the line is longer than " + WalFormat.LONGEST_LINE + " bytes");
    }
    if (!(json(line.content()) instanceof ObjectNode fields)) {
      throw new UnreadableException("the line is no JSON object");
    }
    for (Map.Entry<String, JsonNode> field : fields.properties()) {
      Optional<String> flaw =
          Poison.in("a key", field.getKey()).or(() -> Poison.in(field.getKey(), field.getValue()));
      if (flaw.isPresent()) {
        throw new UnreadableException(flaw.get());
      }
    }
    return fields;
  }

  private static JsonNode json(String content) throws UnreadableException {
    try {
      return READER.readTree(
          content.chars().allMatch(character -> character < 0x80) ? content : utf8(content));
    } catch (CharacterCodingException exception) {
      throw new UnreadableException("the line is not UTF-8");
    } catch (JsonProcessingException exception) {
      throw new UnreadableException("the line is not JSON: " + exception.getOriginalMessage());
    }
  }

  /** Both writers keep to ASCII, but other tools may not. */
  private static String utf8(String content) throws CharacterCodingException {
    byte[] bytes = content.getBytes(StandardCharsets.ISO_8859_1);
    return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
  }

  private static final class UnreadableException extends Exception {
    private static final long serialVersionUID = 1L;

    UnreadableException(String message) {
      super(message);
    }
  }
}
