"""The task that asks a worker for one attempt of a delivery."""

from dataclasses import dataclass
from typing import Any, Self

from functions.gcp.task_queue import Task
from functions.webhooks.deliveries.delivery import Delivery
from functions.webhooks.deliveries.retry_schedule import step


class TooEarlyError(Exception):
    """The attempt is not due yet; the task has to come back later."""


@dataclass(frozen=True, slots=True)
class AttemptRequest:
    """Which attempt of which delivery is asked for, and in which round of it.

    `again` is what distinguishes the task of a sweep. `slow` marks one of the queue of slow
    receivers. `dispatched_before` counts the times that the task was dispatched in vain.
    """

    event_id: str
    delivery_id: str
    attempt: int
    round: int = 0
    again: str = ""
    slow: bool = False
    dispatched_before: int = 0

    @classmethod
    def read(cls, data: Any, *, dispatched_before: int = 0) -> Self:
        """Read the body of a task.

        Raises:
            ValueError: it is none that `attempt_task` made.
        """
        match data:
            case {"eventId": str(event), "deliveryId": str(delivery), "attempt": int(attempt)}:
                match data.get("round", 0):
                    case int(in_round):
                        return cls(
                            event,
                            delivery,
                            attempt,
                            in_round,
                            again=str(data.get("again", "")),
                            slow=bool(data.get("slow")),
                            dispatched_before=dispatched_before,
                        )
        raise ValueError("not the task of an attempt: eventId, deliveryId and attempt are needed")


def attempt_task(delivery: Delivery, *, again: str = "") -> Task:
    """The task for the attempt that `delivery` is owed, on that attempt's queue.

    It has the same name however often it is made, so that Cloud Tasks keeps one. `again` makes
    another name, for a task that was queued once and got lost: its name stays taken for a day. So
    do the names of a round, and the next one has names of its own.
    """
    if delivery.next_attempt_at is None:
        raise ValueError("the delivery is owed no attempt")
    data: dict[str, str | int] = {
        "eventId": delivery.event_id,
        "deliveryId": delivery.id,
        "attempt": delivery.due_attempt,
    }
    series = delivery.id
    if delivery.round:
        data["round"] = delivery.round
        series += f"-r{delivery.round}"
    if again:
        data["again"] = again
    return Task(
        queue=step(delivery.due_attempt).queue,
        name=f"{series}-{delivery.due_attempt}{again}",
        data=data,
        due=delivery.next_attempt_at,
    )
