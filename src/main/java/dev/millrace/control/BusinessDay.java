package dev.millrace.control;

import java.time.Clock;
import java.time.LocalDate;
import java.time.ZoneId;
import java.time.ZonedDateTime;

/**
 * The business day of the fleet, which runs on India's clock wherever a process runs. Instants to
 * be stored are UTC and are not made here. Stateless.
 */
public final class BusinessDay {
  /** The zone of the business. */
  public static final ZoneId ZONE = ZoneId.of("Asia/Kolkata");

  private BusinessDay() {}

  /** Returns the time in India, for who needs the hour. */
  public static ZonedDateTime now(Clock clock) {
    return clock.instant().atZone(ZONE);
  }

  /** Returns the date in India. */
  public static LocalDate today(Clock clock) {
    return now(clock).toLocalDate();
  }

  /** Returns the date before today's in India. */
  public static LocalDate yesterday(Clock clock) {
    return today(clock).minusDays(1);
  }
}
