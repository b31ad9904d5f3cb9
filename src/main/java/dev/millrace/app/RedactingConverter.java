package dev.millrace.app;

import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.pattern.CompositeConverter;
import dev.millrace.failure.Redactor;

/**
 * Removes secrets from a whole line of the log: message, arguments, stack trace and its causes.
 *
 * <p>{@code logback.xml} puts it around its pattern. Stateless, so thread-safe.
 */
public final class RedactingConverter extends CompositeConverter<ILoggingEvent> {
  @Override
  protected String transform(ILoggingEvent event, String line) {
    return Redactor.redact(line);
  }
}
