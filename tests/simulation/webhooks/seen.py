"""What a schedule of the webhooks has shown so far: POSTs, and every version of every record."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from functions.ports import Task
from functions.webhooks.deliveries.delivery import Delivery
from functions.webhooks.events import EventType
from functions.webhooks.signing import SIGNATURE_HEADER, sign
from tests.simulation.simulation import SECOND, START, Actor, Returned, Simulation, current
from tests.simulation.webhooks import law

A_SECOND: Final = 1
"""A pace that the few deliveries of a schedule already exceed."""

URLS_WRITTEN: Final = START - timedelta(days=5, hours=3)
"""When the webhook settings and all other first records were written."""


KEPT: Final = 5 * SECOND
"""How long an attempt may rely on settings that were read earlier (spec 3.4)."""

UNREADABLE: Final = "unreadable"
"""Id of a record of a later release."""


@dataclass(slots=True, eq=False)
class Post:
    """A POST that has left, and its status, if it came back to the instance that made it.

    Times are microseconds. `round` and `attempt` are those that its task was for.
    """

    delivery_id: str
    round: int
    attempt: int
    began: int
    body: bytes
    actor: Actor
    status: int | None = None
    answered: int | None = None

    @property
    def acknowledged(self) -> bool:
        """Whether we know of a 2xx."""
        return self.status is not None and 200 <= self.status <= 299

    @property
    def survived(self) -> bool:
        """Whether the call that made it came to its end."""
        return isinstance(self.actor.end, Returned)


class Seen:
    """Everything that the invariants look at, beside the database at rest.

    Attributes:
        posts: Every POST.
        history: Every version of every delivery, with the time of its commit, by id.
        owed: The messages that the writes so far owe, as (event type, what it is about).
        tests: How many tests were asked for.
        open: Deliveries that are owed an attempt, by id.
        off: When the URLs were switched off, and until when.
        secrets: Every secret that was recorded as the present one.
    """

    def __init__(
        self,
        simulation: Simulation,
        tasks_are_repeated: Callable[[], bool],
    ) -> None:
        """`tasks_are_repeated`: whether a task was dispatched twice by chance, or came late."""
        self.tasks_are_repeated = tasks_are_repeated
        self.simulation = simulation
        self.posts: list[Post] = []
        self.history: dict[str, list[tuple[int, Delivery]]] = {}
        self.owed: list[tuple[str, str]] = []
        self.tests = 0
        self.open: set[str] = set()
        self.off: list[tuple[int, int]] = []
        self.secrets: list[str] = []
        self._swept: dict[tuple[str, datetime], list[timedelta]] = {}
        self._queued: set[str] = set()
        self._recorded_by: set[tuple[str, str]] = set()
        self._uploaded_by: dict[tuple[str, str], str] = {}

    def posted(self, post: Post) -> None:
        """A POST has left. Where nothing has failed, no other one was made for its attempt."""
        made = {(other.delivery_id, other.round, other.attempt) for other in self.posts}
        self.posts.append(post)
        is_second = (post.delivery_id, post.round, post.attempt) in made
        if is_second and not self.simulation.faults and not self.tasks_are_repeated():
            self.simulation.violation(f"{post.delivery_id}: one attempt was two POSTs")

    def check_signature(self, headers: Mapping[str, str], body: bytes) -> None:
        """A POST is signed with a secret that was recorded as the present one."""
        signed = headers[SIGNATURE_HEADER]
        at = int(signed.partition(",")[0].removeprefix("t="))
        if all(sign(secret, body, at=at) != signed for secret in self.secrets):
            self.simulation.violation("a POST is signed with a secret that is not the event's")

    def secret_recorded(self, before: Mapping[str, Any], after: Mapping[str, Any]) -> None:
        """The secret was written; a write without the announced secret has withdrawn it."""
        self.secrets.append(after["secret"])
        if before.get("next") and before.get("secret") == after["secret"] and "next" not in after:
            current().notes["withdrew"] = True

    def queued(self, task: Task) -> None:
        """A task was queued: messages of one write in their order, and few by the sweep."""
        delivery_id, late = str(task.data["deliveryId"]), self.simulation.now - task.due
        if "-sweep" in task.name:
            series = self._swept.setdefault((task.name.partition("-sweep")[0], task.due), [])
            series.append(late)
            if len(series) > 2 and late < min(1.9 * series[-3], series[-3] + timedelta(hours=1)):
                self.simulation.violation(f"{task.name} is the third while its lateness doubled")
        write = current().name.partition(" ")[0]
        uploaded = self._uploaded_by.get((write, self.history[delivery_id][0][1].url), delivery_id)
        is_of_write = (write, delivery_id) in self._recorded_by
        if is_of_write and uploaded not in {*self._queued, delivery_id}:
            self.simulation.violation(f"{delivery_id} is queued before the upload that it follows")
        self._queued.add(delivery_id)

    def recorded(self, delivery: Delivery) -> None:
        """A delivery was written."""
        versions = self.history.setdefault(delivery.id, [])
        before = versions[-1][1] if versions else None
        if before is None:
            write = current().name.partition(" ")[0]
            self._recorded_by.add((write, delivery.id))
            if delivery.event_type is EventType.PHOTO_UPLOADED and delivery.outcome.is_open:
                self._uploaded_by[write, delivery.url] = delivery.id
        versions.append((self.simulation.time, delivery))
        if delivery.outcome.is_open:
            self.open.add(delivery.id)
        else:
            self.open.discard(delivery.id)
        self.simulation.note("record", f"{delivery.id} round {delivery.round}: {delivery.outcome}")
        made = len(delivery.log) and (before is None or delivery.log[-1:] != before.log[-1:])
        if made and current().notes.get("round", 0) != delivery.log[-1].round:
            self.simulation.violation(f"{delivery.id}: a task of another round made an attempt")
        for sentence in law.broken_by(before, delivery):
            self.simulation.violation(f"{delivery.event_type} {delivery.id}: {sentence}")
