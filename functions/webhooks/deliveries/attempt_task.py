"""Task of a delivery's due attempt, in Cloud Tasks (spec 3.4)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from functions.ports import MalformedTaskError, Task
from functions.webhooks.deliveries.delivery import Delivery
from functions.webhooks.deliveries.queues import SLOW_QUEUE, retry_step


@dataclass(frozen=True, slots=True)
class AttemptRequest:
    """The attempt that a task requests, by delivery, round and number.

    `slow` is true if the task is on the slow queue. `dispatched_before` is the number of earlier
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
        """Parse the body of a task.

        Raises:
            MalformedTaskError: The body is malformed.
        """
        fields = {"round": 0, "slow": 0, **data} if isinstance(data, Mapping) else {}
        match fields:
            case {
                "eventId": str(event),
                "deliveryId": str(delivery),
                "attempt": int(attempt),
                "round": int(in_round),
                "slow": slow,
            }:
                return cls(event, delivery, attempt, in_round, bool(slow), dispatched_before)
        raise MalformedTaskError("The task of an attempt needs eventId, deliveryId and attempt.")


def attempt_task(delivery: Delivery, *, suffix: str = "") -> Task:
    """Return the task of the due attempt of `delivery`.

    The name is always the same for the same attempt, so Cloud Tasks keeps only one task. Cloud
    Tasks reserves a name for a day. Therefore the name contains the round, the due time on the slow
    queue (where a delivery may wait more than once), and `suffix` for a task that replaces a lost
    task.
    """
    if delivery.next_attempt_at is None:
        raise ValueError("the delivery has no due attempt")
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
        queue=SLOW_QUEUE if delivery.slow else retry_step(delivery.due_attempt).queue,
        name=f"{series}{suffix}",
        data=data,
        due=delivery.next_attempt_at,
    )
