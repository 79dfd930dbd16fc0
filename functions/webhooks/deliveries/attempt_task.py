"""The task that asks a worker for one attempt of a delivery."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from functions.gcp.task_queue import Task
from functions.webhooks.deliveries.delivery import Delivery
from functions.webhooks.deliveries.retry_schedule import SLOW_QUEUE, step


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


def attempt_task(delivery: Delivery, *, suffix: str = "") -> Task:
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
