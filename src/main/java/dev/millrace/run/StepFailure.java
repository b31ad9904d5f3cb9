package dev.millrace.run;

/**
 * Why a step of a workflow failed.
 *
 * @param code the stable code
 * @param message names the thing, the cause and the way out
 */
public record StepFailure(String code, String message) {}
