package dev.millrace.replication;

import dev.millrace.failure.MillraceException;
import io.temporal.activity.Activity;
import io.temporal.activity.ActivityInfo;
import io.temporal.client.ActivityCompletionException;
import io.temporal.common.interceptors.ActivityInboundCallsInterceptor;
import io.temporal.common.interceptors.ActivityInboundCallsInterceptorBase;
import io.temporal.common.interceptors.WorkerInterceptorBase;
import io.temporal.failure.TemporalFailure;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lets no exception of an activity reach history as it is: each becomes a failure with a code,
 * without secrets and without the driver's trace. Thread-safe.
 */
public final class FailureTranslation extends WorkerInterceptorBase {
  private static final Logger LOG = LoggerFactory.getLogger(FailureTranslation.class);

  @Override
  public ActivityInboundCallsInterceptor interceptActivity(ActivityInboundCallsInterceptor next) {
    return new ActivityInboundCallsInterceptorBase(next) {
      @Override
      public ActivityOutput execute(ActivityInput input) {
        try {
          return super.execute(input);
        } catch (TemporalFailure exception) {
          throw exception;
        } catch (ActivityCompletionException exception) {
          tell(exception);
          throw exception;
        } catch (MillraceException exception) {
          tell(exception);
          throw Failures.of(exception);
        } catch (RuntimeException exception) {
          LOG.error("an activity failed in a way that nobody expected", exception);
          throw Failures.unexpected(exception);
        }
      }
    };
  }

  /** Cancelled, or late: another attempt may be at work already. */
  private static void tell(ActivityCompletionException exception) {
    ActivityInfo step = Activity.getExecutionContext().getInfo();
    LOG.info(
        "{} of {}, attempt {} stops: {}",
        step.getActivityType(),
        step.getWorkflowId(),
        step.getAttempt(),
        exception.getClass().getSimpleName());
  }

  private static void tell(MillraceException exception) {
    ActivityInfo step = Activity.getExecutionContext().getInfo();
    LOG.warn(
        "{} of {}, attempt {}: {} {}",
        step.getActivityType(),
        step.getWorkflowId(),
        step.getAttempt(),
        exception.code(),
        exception.getMessage());
    LOG.debug("where it failed", exception);
  }
}
