"""The retry schedule (spec 3.4 and 8): four attempts, each on a queue of its own.

attempt  queue                  waits after the attempt before   adds up to
      1  deliverWebhook          0 s                               0 s
      2  retryWebhookAfter1s     1 s                               1 s
      3  retryWebhookAfter5s     5 s                               6 s
      4  retryWebhookAfter30s   30 s                              36 s

Attempts at slow receivers have the same waits, on the slow queue.
"""

from dataclasses import dataclass
from datetime import timedelta
from typing import Final


@dataclass(frozen=True, slots=True)
class RetryStep:
    """One attempt: the queue (and function) that makes it, and the wait before it."""

    queue: str
    delay: timedelta

    @property
    def backoff_seconds(self) -> int:
        """Backoff of the step's queue, in seconds: what a task sent back early waits.

        The first step has no wait of its own; a second keeps a crash from spinning.
        """
        return max(1, int(self.delay.total_seconds()))


RETRY_SCHEDULE: Final = (
    RetryStep("deliverWebhook", timedelta(0)),
    RetryStep("retryWebhookAfter1s", timedelta(seconds=1)),
    RetryStep("retryWebhookAfter5s", timedelta(seconds=5)),
    RetryStep("retryWebhookAfter30s", timedelta(seconds=30)),
)


SLOW_QUEUE: Final = "deliverWebhookSlow"
"""The queue of all attempts, first ones and retries, at receivers that have just been slow."""


TASK_TRIED_FOR: Final = timedelta(hours=1)
"""How long a queue tries a task that fails, by a fault of ours, before it gives the task up."""

SWEEP_PERIOD: Final = timedelta(minutes=5)
"""How often the sweep looks for deliveries whose task was lost."""


def step(attempt: int) -> RetryStep:
    """The step of `attempt`, counted from 1."""
    return RETRY_SCHEDULE[attempt - 1]
