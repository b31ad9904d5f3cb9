package dev.millrace.refresh;

import java.util.List;

/**
 * What a refresh is at, for people.
 *
 * @param state running, waiting_approval, published, skipped, rejected, rolled_back or failed
 * @param step what it does, or what it waits for
 * @param runId the run; null before the input is read
 * @param target {@code database.table}
 * @param source {@code schema.table}
 * @param question what is asked; null while nothing was
 * @param approve a command that approves; null while nothing waits
 * @param reject a command that rejects; null while nothing waits
 * @param decision what was answered; null while nothing was
 * @param ignored answers that could not be used, with the reason
 * @param warnings what somebody should know
 */
public record RefreshStatus(
    String state,
    String step,
    String runId,
    String target,
    String source,
    Question question,
    String approve,
    String reject,
    Decision decision,
    List<String> ignored,
    List<String> warnings) {}
