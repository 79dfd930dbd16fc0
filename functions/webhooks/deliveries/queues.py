"""The retry schedule (spec 3.4 and 8): four attempts, each on a queue of its own.

attempt  queue                  waits after the attempt before   adds up to
      1  deliverWebhook          0 s                               0 s
      2  retryWebhookAfter1s     1 s                               1 s
      3  retryWebhookAfter5s     5 s                               6 s
      4  retryWebhookAfter30s   30 s                              36 s

Attempts at slow receivers have the same waits, on the slow queue.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final, Self

from functions.outside import Task

if TYPE_CHECKING:
    from functions.webhooks.deliveries.delivery import Delivery


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


SWEEP_PERIOD: Final = timedelta(minutes=5)
"""How often the sweep looks for deliveries whose task was lost."""


def step(attempt: int) -> RetryStep:
    """The step of `attempt`, counted from 1."""
    return RETRY_SCHEDULE[attempt - 1]


class TooEarlyError(Exception):
    """The attempt is not due yet; the task has to come back later."""


@dataclass(frozen=True, slots=True)
class AttemptRequest:
    """The attempt that a task asks for, by delivery, round and number.

    `slow` tells that the task is on the slow queue. `dispatched_before` counts the earlier
    dispatches of the task, which all failed.
    """

    event_id: str
    delivery_id: str
    attempt: int
    round: int = 0
    slow: bool = False
    dispatched_before: int = 0

    @classmethod
    def read(cls, data: Any, *, dispatched_before: int = 0) -> Self:
        """Read the body of a task.

        Raises:
            ValueError: `attempt_task` made no such body.
        """
        given = {"round": 0, "slow": 0, **data} if isinstance(data, Mapping) else {}
        match given:
            case {
                "eventId": str(event),
                "deliveryId": str(delivery),
                "attempt": int(attempt),
                "round": int(in_round),
                "slow": slow,
            }:
                return cls(event, delivery, attempt, in_round, bool(slow), dispatched_before)
        raise ValueError("not the task of an attempt: eventId, deliveryId and attempt are needed")


def attempt_task(delivery: "Delivery", *, suffix: str = "") -> Task:
    """The task for the due attempt of `delivery`: its queue, name and time are recorded.

    The task has the same name each time it is made, so that Cloud Tasks keeps one. On the slow
    queue the due time is in the name, as a delivery may have to wait there more than once. Each
    round has its own names, because a name stays taken for a day. `suffix` makes another name, for
    a task that was queued and got lost.
    """
    if delivery.next_attempt_at is None:
        raise ValueError("the delivery has no attempt that is due")
    data: dict[str, str | int] = {
        "eventId": delivery.event_id,
        "deliveryId": delivery.id,
        "attempt": delivery.due_attempt,
    }
    series = delivery.id
    if delivery.round:
        data["round"] = delivery.round
        series += f"-r{delivery.round}"
    series = f"{series}-{delivery.due_attempt}"
    if delivery.slow:
        data["slow"] = 1
        series += f"-at{int(delivery.next_attempt_at.timestamp() * 1000)}"
    return Task(
        queue=SLOW_QUEUE if delivery.slow else step(delivery.due_attempt).queue,
        name=f"{series}{suffix}",
        data=data,
        due=delivery.next_attempt_at,
    )
