"""The retry schedule (spec 3.4 and 8): four attempts, each on a queue of its own.

attempt  queue                  delay after the last attempt     total delay
      1  deliverWebhook          0 s                               0 s
      2  retryWebhookAfter1s     1 s                               1 s
      3  retryWebhookAfter5s     5 s                               6 s
      4  retryWebhookAfter30s   30 s                              36 s

Attempts at slow receivers have the same delays, on the slow queue.
"""

from dataclasses import dataclass
from datetime import timedelta
from typing import Final


@dataclass(frozen=True, slots=True)
class RetryStep:
    """One attempt of the schedule: the name of its queue and function, and the delay before it."""

    queue: str
    delay: timedelta

    @property
    def backoff_seconds(self) -> int:
        """Backoff of the step's queue in seconds, for a task that came too early.

        At least one second, so that a crashing first attempt does not loop.
        """
        return max(1, int(self.delay.total_seconds()))


RETRY_SCHEDULE: Final = (
    RetryStep("deliverWebhook", timedelta(0)),
    RetryStep("retryWebhookAfter1s", timedelta(seconds=1)),
    RetryStep("retryWebhookAfter5s", timedelta(seconds=5)),
    RetryStep("retryWebhookAfter30s", timedelta(seconds=30)),
)


SLOW_QUEUE: Final = "deliverWebhookSlow"
"""The queue of all attempts, first attempts and retries, at receivers that were slow recently."""


TASK_TRIED_FOR: Final = timedelta(hours=1)
"""How long a queue retries a task that fails because of an internal error."""

SWEEP_PERIOD: Final = timedelta(minutes=5)
"""How often the sweep looks for deliveries whose task was lost."""


def retry_step(attempt: int) -> RetryStep:
    """Return the step of `attempt`, counted from 1."""
    return RETRY_SCHEDULE[attempt - 1]
