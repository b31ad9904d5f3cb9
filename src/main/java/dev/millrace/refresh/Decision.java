package dev.millrace.refresh;

/**
 * What a person answered.
 *
 * @param approved whether the shadow is published
 * @param reason why; may be empty
 * @param by who, as they say themselves
 * @param digest of the question that was answered; null where none was given
 */
public record Decision(boolean approved, String reason, String by, String digest) {}
