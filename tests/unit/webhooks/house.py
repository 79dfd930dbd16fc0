"""An event with its receivers and staff in memory: the real use cases, on a clock that tests move.

Each `Instance` is a process of the service; what they share is the database, the queues and the
receivers.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final, TypeVar

from functions.access import Caller, Role
from functions.gcp.task_queue import Task
from functions.webhooks.actions import Actions
from functions.webhooks.deliveries.attempt_task import AttemptRequest
from functions.webhooks.deliveries.delivery import Delivery
from functions.webhooks.endpoint_health import EndpointHealth
from functions.webhooks.publisher import Publisher
from functions.webhooks.worker import Worker
from tests.simulation.database import Create, Database, Set
from tests.simulation.webhooks.memory import (
    InMemoryDeliveries,
    InMemorySecrets,
    InMemorySettings,
    InMemoryTaskQueue,
    InMemoryTasks,
    InMemoryWall,
    ScriptedSender,
)

T = TypeVar("T")

START: Final = datetime(2026, 5, 1, 18, 30, tzinfo=UTC)
EVENT: Final = "e1"
TENANT: Final = "t1"
URL: Final = "https://example.com/hook"
ADMIN: Final = Caller("admin", Role.ADMIN, TENANT)
SUPERADMIN: Final = Caller("superadmin", Role.SUPERADMIN, TENANT)


@dataclass(frozen=True, slots=True)
class Posted:
    """What a receiver got, and when."""

    headers: dict[str, str]
    body: bytes
    at: datetime

    @property
    def json(self) -> dict[str, Any]:
        """The body."""
        parsed: dict[str, Any] = json.loads(self.body)
        return parsed


@dataclass(slots=True)
class House:
    """What all instances share, and the clock.

    Attributes:
        now: The time.
        status: What every receiver answers.
        calls: The round trips that the instances have made, by name.
        posted: What receivers got.
        tasks: The queues.
    """

    now: datetime = START
    status: int = 204
    calls: list[str] = field(default_factory=list)
    posted: list[Posted] = field(default_factory=list)
    before: dict[str, Callable[[], object]] = field(default_factory=dict)
    database: Database = field(init=False)
    tasks: InMemoryTasks = field(init=False)

    def __post_init__(self) -> None:
        """An event with one URL that takes everything."""
        self.database = Database(lambda: self.now)
        self.tasks = InMemoryTasks(lambda: self.now)
        event = Create(f"events/{EVENT}", {"tenantId": TENANT, "status": "published"})
        self.database.commit(event)
        self.configure(URL)

    def configure(self, *urls: Any, **further: Any) -> None:
        """Save the webhook settings."""
        fields = {"urls": list(urls)} | further
        self.database.commit(Set(f"events/{EVENT}/settings/webhooks", fields))

    def wait(self, **time: float) -> None:
        """Let the time pass."""
        self.now += timedelta(**time)

    def record(self, *deliveries: Delivery) -> None:
        """Put deliveries on record as they are."""
        self.database.commit(*(Create(_path(one.id), one) for one in deliveries))

    def delivery(self, delivery_id: str) -> Delivery:
        """The record."""
        found = self.database.get(_path(delivery_id))
        assert found is not None
        delivery: Delivery = found.value
        return delivery

    def secret(self) -> Any:
        """The record of the secret."""
        found = self.database.get(f"events/{EVENT}/secrets/webhooks")
        return found and found.value

    def due(self) -> Sequence[Task]:
        """Tasks that were queued and not taken yet."""
        taken, self.tasks.accepted = self.tasks.accepted, []
        return taken

    def through(self, what: str, effect: Callable[[], T], *, retried: bool = True) -> T:  # noqa: ARG002
        """Be the way of every call: count it, and let happen `before` it what a test wants."""
        self.calls.append(what)
        happens = self.before.pop(what, None)
        if happens:
            happens()
        return effect()

    def post(self, _: object, headers: Any, body: bytes) -> int:
        """Be every receiver."""
        self.posted.append(Posted(dict(headers), body, self.now))
        return self.status


class Instance:
    """A process of the service, with a memory of its own."""

    def __init__(self, house: House, *, page: int = 300) -> None:
        """`page` is how many deliveries a call looks at."""
        names = iter(range(1_000_000))
        self._house = house
        deliveries = InMemoryDeliveries(house.database, house.through)
        wall = InMemoryWall(house.database, house.through)
        queue = InMemoryTaskQueue(house.tasks, house.through)
        self.secrets = InMemorySecrets(
            house.database,
            lambda: f"whsec_{id(self)}_{next(names)}",
            self._monotonic,
            house.through,
            now=self._now,
        )
        self.worker = Worker(
            deliveries=deliveries,
            secrets=self.secrets,
            sender=ScriptedSender(house.post, house.through),
            queue=queue,
            endpoint_health=EndpointHealth(
                deliveries=deliveries,
                settings=InMemorySettings(house.database, house.through),
                now=self._now,
                monotonic=self._monotonic,
            ),
            now=self._now,
            monotonic=self._monotonic,
            sleep=lambda seconds: house.wait(seconds=seconds),
        )
        self.publisher = Publisher(
            wall=wall,
            deliveries=deliveries,
            queue=queue,
            side_by_side=_one_by_one,
            now=self._now,
            monotonic=self._monotonic,
        )
        self.actions = Actions(
            wall=wall,
            deliveries=deliveries,
            secrets=self.secrets,
            queue=queue,
            worker=self.worker,
            side_by_side=_one_by_one,
            now=self._now,
            new_id=lambda: f"{id(self)}-{next(names)}",
            page=page,
        )

    def work(self) -> None:
        """Make the attempts that tasks ask for, each when it is due, until none is left."""
        while tasks := self._house.due():
            for one in tasks:
                self._house.now = max(self._house.now, one.due)
                self.worker.attempt(AttemptRequest.read(one.data))

    def _now(self) -> datetime:
        return self._house.now

    def _monotonic(self) -> float:
        return (self._house.now - START).total_seconds()


def _one_by_one(do: Callable[[Any], T], items: Any) -> list[T]:
    return [do(one) for one in items]


def _path(delivery_id: str) -> str:
    return f"events/{EVENT}/deliveries/{delivery_id}"
