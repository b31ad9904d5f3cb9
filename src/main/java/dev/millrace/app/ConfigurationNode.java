package dev.millrace.app;

import java.util.List;
import java.util.Map;

/** A part of the configuration file with the line where its key stands. Immutable. */
sealed interface ConfigurationNode {

  /** Returns the line, from 1. */
  int line();

  /** Keys with their values. */
  record Fields(int line, Map<String, ConfigurationNode> fields) implements ConfigurationNode {}

  /** A list. */
  record Items(int line, List<ConfigurationNode> items) implements ConfigurationNode {}

  /** One value, as YAML takes it. */
  record Scalar(int line, Kind kind, String text) implements ConfigurationNode {}

  /** What YAML takes a value for. */
  enum Kind {
    TEXT,
    NUMBER,
    FLAG,
    NOTHING
  }
}
