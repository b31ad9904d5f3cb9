package dev.millrace.run;

import dev.millrace.failure.MillraceException;
import io.temporal.activity.ActivityExecutionContext;
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
      private ActivityInfo step;

      @Override
      public void init(ActivityExecutionContext context) {
        // Once the step has thrown, the SDK no longer gives its context to this thread.
        step = context.getInfo();
        super.init(context);
      }

      @Override
      public ActivityOutput execute(ActivityInput input) {
        try {
          return super.execute(input);
        } catch (TemporalFailure exception) {
          throw exception;
        } catch (ActivityCompletionException exception) {
          tell(step, exception);
          throw exception;
        } catch (MillraceException exception) {
          tell(step, exception);
          throw Failures.of(exception, step);
        } catch (RuntimeException exception) {
          LOG.error("an activity failed in a way that nobody expected", exception);
          throw Failures.unexpected(exception);
        }
      }
    };
  }

  /** Cancelled, or late: another attempt may be at work already. */
  private static void tell(ActivityInfo step, ActivityCompletionException exception) {
    LOG.info(
        "{} of {}, attempt {} stops: {}",
        step.getActivityType(),
        step.getWorkflowId(),
        step.getAttempt(),
        exception.getClass().getSimpleName());
  }

  private static void tell(ActivityInfo step, MillraceException exception) {
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
