package dev.millrace.failure;

import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;

/**
 * Named points of a run at which a test has the process killed, frozen, or an audit fail; see
 * {@code docs/architecture.md}. Thread-safe.
 */
public final class Points {
  /** The environment variable that sets them: {@code name=kill|freeze|mismatch}, by commas. */
  public static final String VARIABLE = "MILLRACE_POINTS";

  private static final Set<String> NAMES =
      Set.of(
          "prepare.end",
          "extract.planned",
          "extract.reserved",
          "extract.staged",
          "extract.middle",
          "extract.end",
          "extract.audit",
          "write.intent",
          "write.before-complete",
          "write.after-complete",
          "write.before-manifest",
          "write.before-watermark",
          "write.after-watermark",
          "load.before-create",
          "load.after-create",
          "load.after-insert",
          "load.before-promote",
          "load.after-promote",
          "discard.before-rename",
          "discard.after-rename",
          "swap.after-intent",
          "swap.before-rename",
          "swap.after-rename",
          "swap.before-exchange",
          "swap.after-exchange",
          "swap.after-rename-back",
          "audit-published.end",
          "save-state.before",
          "save-state.after",
          "rollback.begin",
          "rollback.before-rename",
          "rollback.after-rename",
          "rollback.before-exchange",
          "rollback.after-exchange",
          "rollback.end");

  private enum Effect {
    KILL,
    FREEZE,
    MISMATCH
  }

  private final Map<String, Effect> effects;

  private Points(Map<String, Effect> effects) {
    this.effects = new ConcurrentHashMap<>(effects);
  }

  /** Returns the names of the points of some steps. */
  public static List<String> of(String... steps) {
    return NAMES.stream()
        .filter(name -> Arrays.asList(steps).contains(name.substring(0, name.indexOf('.'))))
        .sorted()
        .toList();
  }

  /**
   * Reads the variable's value.
   *
   * @param setting such as {@code write.after-complete=kill}; null or empty for no points
   * @param allowed whether the stack is one of tests
   * @throws MillraceException with {@code BAD_CONFIGURATION} for an unknown point or effect, or
   *     where points are not allowed
   */
  public static Points parse(String setting, boolean allowed) {
    if (setting == null || setting.isBlank()) {
      return new Points(Map.of());
    }
    if (!allowed) {
      throw new MillraceException(
          ErrorCode.BAD_CONFIGURATION,
          VARIABLE
              + " is set, but it is for the stacks of dev, demo and tests only; unset it to run this worker");
    }
    return new Points(
        Arrays.stream(setting.split(","))
            .map(String::strip)
            .map(entry -> entry.split("=", 2))
            .collect(Collectors.toMap(Points::name, Points::effect)));
  }

  private static String name(String[] entry) {
    if (!NAMES.contains(entry[0])) {
      throw new MillraceException(
          ErrorCode.BAD_CONFIGURATION,
          "%s names the point '%s'; did you mean %s?"
              .formatted(VARIABLE, entry[0], NearestName.of(entry[0], NAMES)));
    }
    return entry[0];
  }

  private static Effect effect(String[] entry) {
    return switch (entry.length == 2 ? entry[1] : "") {
      case "kill" -> Effect.KILL;
      case "freeze" -> Effect.FREEZE;
      case "mismatch" -> Effect.MISMATCH;
      default ->
          throw new MillraceException(
              ErrorCode.BAD_CONFIGURATION,
              "%s: %s must be kill, freeze or mismatch".formatted(VARIABLE, entry[0]));
    };
  }

  /** Passes a point; the first to pass one that is set to kill or freeze does not get by. */
  public void pass(String name) {
    Effect effect = effects.get(name);
    if (effect == null || effect == Effect.MISMATCH) {
      return;
    }
    effects.remove(name);
    signal(effect == Effect.KILL ? "KILL" : "STOP");
  }

  /** Returns whether an audit is made to fail at this point; true once. */
  public boolean mismatch(String name) {
    return effects.remove(name, Effect.MISMATCH);
  }

  private static void signal(String signal) {
    try {
      new ProcessBuilder("kill", "-" + signal, Long.toString(ProcessHandle.current().pid()))
          .inheritIO()
          .start()
          .waitFor();
    } catch (IOException exception) {
      throw new MillraceException(ErrorCode.INTERNAL, "can't signal this process", exception);
    } catch (InterruptedException exception) {
      Thread.currentThread().interrupt();
    }
  }
}
