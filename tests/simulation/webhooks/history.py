"""The history of a schedule: POSTs, and every version of every delivery."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from functions.ports import Task
from functions.webhooks.deliveries.delivery import Delivery
from functions.webhooks.events import EventType
from functions.webhooks.signing import SIGNATURE_HEADER, sign
from tests.simulation.simulation import SECOND, START, Actor, Returned, Simulation, current
from tests.simulation.webhooks import transitions

A_SECOND: Final = 1
"""A rate limit that the few deliveries of a schedule exceed."""

URLS_WRITTEN: Final = START - timedelta(days=5, hours=3)
"""Time at which the webhook settings and all other initial records were written."""


KEPT: Final = 5 * SECOND
"""Maximum age of cached settings (spec 3.4)."""

UNREADABLE: Final = "unreadable"
"""ID of a record of a later release."""


@dataclass(slots=True, eq=False)
class Post:
    """A POST, and its status if the instance got the response.

    Times are microseconds. `round` and `attempt` are those of its task.
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
        """Whether the instance got a 2xx."""
        return self.status is not None and 200 <= self.status <= 299

    @property
    def survived(self) -> bool:
        """Whether the call that sent it returned."""
        return isinstance(self.actor.end, Returned)


class History:
    """The data for the invariants, except the final database.

    Attributes:
        posts: Every POST.
        versions: Every version of every delivery with the time of its commit, by ID.
        owed: The messages that the writes so far require, as (event type, subject).
        tests: Number of requested tests.
        open: Deliveries with a pending attempt, by ID.
        off: Times at which the URLs were disabled and enabled.
        secrets: Every secret that was the current one.
    """

    def __init__(
        self,
        simulation: Simulation,
        tasks_are_repeated: Callable[[], bool],
    ) -> None:
        """Start empty. `tasks_are_repeated` returns whether a task was duplicated or late."""
        self.tasks_are_repeated = tasks_are_repeated
        self.simulation = simulation
        self.posts: list[Post] = []
        self.versions: dict[str, list[tuple[int, Delivery]]] = {}
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
        """Record a POST. Without faults, it must be the only one of its attempt."""
        made = {(other.delivery_id, other.round, other.attempt) for other in self.posts}
        self.posts.append(post)
        is_second = (post.delivery_id, post.round, post.attempt) in made
        if is_second and not self.simulation.faults and not self.tasks_are_repeated():
            self.simulation.violation(f"{post.delivery_id}: one attempt was two POSTs")

    def check_signature(self, headers: Mapping[str, str], body: bytes) -> None:
        """Check that a POST is signed with a secret that was the current one."""
        signed = headers[SIGNATURE_HEADER]
        at = int(signed.partition(",")[0].removeprefix("t="))
        if all(sign(secret, body, at=at) != signed for secret in self.secrets):
            self.simulation.violation("a POST is signed with a secret that is not the event's")

    def secret_recorded(self, before: Mapping[str, Any], after: Mapping[str, Any]) -> None:
        """Record a write of the secret. A write without the announced secret withdraws it."""
        self.secrets.append(after["secret"])
        if before.get("next") and before.get("secret") == after["secret"] and "next" not in after:
            current().notes["withdrew"] = True

    def queued(self, task: Task) -> None:
        """Check a queued task: the order of a write's messages, and the limit of the sweep."""
        delivery_id, late = str(task.data["deliveryId"]), self.simulation.now - task.due
        if "-sweep" in task.name:
            series = self._swept.setdefault((task.name.partition("-sweep")[0], task.due), [])
            series.append(late)
            if len(series) > 2 and late < min(1.9 * series[-3], series[-3] + timedelta(hours=1)):
                self.simulation.violation(f"{task.name} is the third while its lateness doubled")
        write = current().name.partition(" ")[0]
        uploaded = self._uploaded_by.get((write, self.versions[delivery_id][0][1].url), delivery_id)
        is_of_write = (write, delivery_id) in self._recorded_by
        if is_of_write and uploaded not in {*self._queued, delivery_id}:
            self.simulation.violation(f"{delivery_id} is queued before the upload that it follows")
        self._queued.add(delivery_id)

    def recorded(self, delivery: Delivery) -> None:
        """Record and check a write of a delivery."""
        versions = self.versions.setdefault(delivery.id, [])
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
        for sentence in transitions.violations_of(before, delivery):
            self.simulation.violation(f"{delivery.event_type} {delivery.id}: {sentence}")
