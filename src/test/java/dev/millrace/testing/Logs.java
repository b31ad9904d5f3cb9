package dev.millrace.testing;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.ThrowableProxyUtil;
import ch.qos.logback.core.AppenderBase;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.slf4j.LoggerFactory;

/** What Millrace's own loggers are told while it is open. Thread-safe. */
public final class Logs implements AutoCloseable {
  private final Logger logger = (Logger) LoggerFactory.getLogger("dev.millrace");
  private final Level before = logger.getLevel();
  private final List<ILoggingEvent> events = new CopyOnWriteArrayList<>();
  private final AppenderBase<ILoggingEvent> appender =
      new AppenderBase<>() {
        @Override
        protected void append(ILoggingEvent event) {
          events.add(event);
        }
      };

  private Logs() {}

  /** Begins to listen. */
  public static Logs listen() {
    return listen(Level.INFO);
  }

  /** Begins to listen, down to a level. */
  public static Logs listen(Level level) {
    Logs logs = new Logs();
    logs.appender.start();
    logs.logger.setLevel(level);
    logs.logger.addAppender(logs.appender);
    return logs;
  }

  /** Returns the messages of a level. */
  public List<String> messages(Level level) {
    return events.stream()
        .filter(event -> event.getLevel().equals(level))
        .map(ILoggingEvent::getFormattedMessage)
        .toList();
  }

  /** Returns all lines with their traces, as they were before the log's own redactor. */
  public List<String> lines() {
    return events.stream()
        .map(
            event ->
                event.getFormattedMessage()
                    + "\n"
                    + (event.getThrowableProxy() == null
                        ? ""
                        : ThrowableProxyUtil.asString(event.getThrowableProxy())))
        .toList();
  }

  @Override
  public void close() {
    logger.detachAppender(appender);
    logger.setLevel(before);
  }
}
