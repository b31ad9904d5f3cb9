package dev.millrace.parquet;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class ReplacedValuesTest {
  @Test
  void partsOfAColumnAreAddedUpByTheirRule() {
    assertThat(
            ReplacedValues.sum(
                List.of(
                    new ReplacedValues("b", "nan: null", 2),
                    new ReplacedValues("a", "infinity: null", 1),
                    new ReplacedValues("b", "nan: null", 40),
                    new ReplacedValues("b", "infinity: clamp", 3))))
        .containsExactly(
            new ReplacedValues("b", "nan: null", 42),
            new ReplacedValues("a", "infinity: null", 1),
            new ReplacedValues("b", "infinity: clamp", 3));
  }
}
