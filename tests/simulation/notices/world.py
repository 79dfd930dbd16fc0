"""The world of the notices: an event's receivers fail and recover, and its people are told."""

from collections.abc import Callable, Iterable, Mapping
from datetime import timedelta
from functools import partial
from typing import Any, Final, TypeVar

from functions.documents.document import Document
from functions.documents.write import Create, Delete, Update
from functions.gcp.task_queue import Task
from functions.mail.message import EmailMessage
from functions.mail.outcome import Accepted, BadAddresses, Later, Refused, SendOutcome, Unknown
from functions.webhooks.deliveries.delivery import Delivery, Outcome
from functions.webhooks.deliveries.retry_schedule import SWEEP_PERIOD
from functions.webhooks.deliveries.store import DeliveryStore, read_delivery
from functions.webhooks.notices.look_task import event_of
from functions.webhooks.notices.watch import Watch
from tests.in_memory import database
from tests.in_memory.database import Database, Stored
from tests.in_memory.documents import Firestore, InMemoryDocuments
from tests.in_memory.outside import InMemoryTasks
from tests.in_memory.through import ServiceError
from tests.in_memory.use_cases import WebhookUseCases
from tests.simulation.dispatch import CloudTasks
from tests.simulation.faults import NEVER_RETRIED
from tests.simulation.notices.invariants import Mail, Seen
from tests.simulation.notices.scenario import ANN, BOB, EVENT, End, Scenario, ended
from tests.simulation.simulation import (
    HOUR,
    MINUTE,
    SECOND,
    START,
    Instance,
    Pool,
    Simulation,
    current,
)
from tests.simulation.simulation import End as Ended

T = TypeVar("T")

_SETTINGS: Final = f"events/{EVENT}/settings/webhooks"
_NOTICES: Final = f"events/{EVENT}/notices/webhooks"
_SWEEP: Final = round(SWEEP_PERIOD.total_seconds()) * SECOND
_CALM: Final = 5 * HOUR
"""After the last delivery: six tries of a mail, an hour of quiet, a pause of an hour."""
_BUSY: Final = 75 * MINUTE
_SELDOM: Final = 20 * MINUTE
"""How often the sweep comes after that: nothing is to change any more."""

_POSSIBLE: Final = NEVER_RETRIED
"""A mail is requested once: nobody tries it again but a later look."""


_ANSWERS: Final[Mapping[str, SendOutcome]] = {
    "taken": Accepted("m"),
    "lost": Unknown("no answer"),
    "unknown": Unknown("HTTP 503"),
    "later": Later("HTTP 429", None),
    "refused": Refused("HTTP 401"),
    "bad address": BadAddresses(frozenset({0})),
}


class NoticeWorld:
    """One event, some hours of failures and successes, and then five hours of calm."""

    def __init__(self, simulation: Simulation) -> None:
        """Put everybody on the schedule."""
        self._simulation = simulation
        self._scenario = Scenario.of(simulation.choices)
        self._seen = Seen(simulation)
        self._names = 0
        self._mails = list(self._scenario.mails)
        self._database = Database(lambda: simulation.now)
        self._database.watch(self._watched)
        self._firestore = Firestore(lambda: START - timedelta(days=5, hours=3))
        self._firestore.watch(self._written)
        self._deliveries = DeliveryStore(InMemoryDocuments(self._firestore))
        self._firestore.commit(
            Create(f"events/{EVENT}", {"tenantId": "t1", "name": "Garden party"}),
            Create(_SETTINGS, self._scenario.settings),
        )
        if dead := self._scenario.dead:
            self._deliveries.create(EVENT, dead)
        self._firestore.set_clock(lambda: simulation.now)
        self._attempts = CloudTasks(simulation)
        self._looks = CloudTasks(simulation)
        self._tasks = InMemoryTasks(lambda: simulation.now, self._queued)
        self._workers = self._pool("worker", WebhookUseCases.endpoint_health)
        self._notifiers = self._pool("notifier", WebhookUseCases.notifier)
        self._sweepers = self._pool("sweeper", WebhookUseCases.notice_sweeper)
        for number, one in enumerate(self._scenario.ends):
            simulation.after(one.at, partial(self._end, f"delivery-{number}", one))
        for what, at in self._scenario.admin:
            simulation.after(at, partial(self._admin, what))
        last = max((end.at for end in self._scenario.ends), default=0)
        for at in (
            *range(_SWEEP, last + _BUSY, _SWEEP),
            *range(last + _BUSY, last + _CALM, _SELDOM),
        ):
            simulation.after(at, self._sweep)

    def violations(self) -> Iterable[str]:
        """What is wrong now that everything is at rest."""
        found = self._database.get(_NOTICES)
        complete = not self._attempts.unpunctual
        return self._seen.at_rest(found.value if found else Watch(), complete=complete)

    # Receivers, and the admin.

    def _end(self, name: str, one: End) -> None:
        delivery = ended(name, one.url, at=self._simulation.time, works=one.works, test=one.test)
        self._deliveries.create(EVENT, [delivery])
        if delivery.outcome is Outcome.FAILED:
            self._attempts.call(name, partial(self._failed, delivery))

    def _failed(self, delivery: Delivery, name: str, done: Callable[[Ended], None]) -> None:
        """The task of its last attempt, which is on record as failed: however often it comes."""
        self._workers.run(name, lambda health: health.delivery_failed(delivery), done)

    def _admin(self, what: str) -> None:
        changes: Mapping[str, Mapping[str, Any]] = {
            "nobody": {"notify": []},
            "another": {"notify": [BOB, ANN]},
            "remove": {"urls": list(self._scenario.urls[1:])},
            "enable": {"disabled": {}},
            "save": {"saved": self._simulation.time},
        }
        if what == "delete":
            self._firestore.commit(Delete(f"events/{EVENT}"))
            self._firestore.commit(Delete(_SETTINGS))
            self._database.commit(database.Delete(_NOTICES))
        elif self._firestore.get(_SETTINGS):
            self._firestore.commit(Update(_SETTINGS, changes[what]))

    # The services that call functions.

    def _written(self, path: str, _: Document | None, after: Document | None) -> None:
        match path.split("/"):
            case ["events", _, "deliveries", _] if after:
                self._seen.ended(read_delivery(after))
            case ["events", _, "settings", _]:
                self._seen.saved(after.fields if after else None)
            case _:
                pass

    def _watched(self, path: str, before: Stored | None, after: Stored | None) -> None:
        if path == _NOTICES and after:
            self._seen.watched(before.value if before else Watch(), after.value)

    def _queued(self, task: Task) -> None:
        def look(name: str, done: Callable[[Ended], None]) -> None:
            event_id = event_of(task.data)
            self._notifiers.run(name, lambda notifier: notifier.look(event_id), done)

        due = (task.due - START) // timedelta(microseconds=1)
        self._looks.call(task.name, look, due=due, backoff=10 * SECOND)

    def _sweep(self) -> None:
        self._names += 1
        self._sweepers.run(f"sweep-{self._names}", lambda sweeper: sweeper.sweep())

    # The instances of each function.

    def _pool(self, name: str, make: Callable[[WebhookUseCases], T]) -> Pool[T]:
        return Pool(self._simulation, name, lambda instance: make(self._use_cases(instance)))

    def _use_cases(self, instance: Instance) -> WebhookUseCases:
        return WebhookUseCases(
            instance.machine,
            self._firestore,
            self._database,
            self._tasks,
            new_id=self._name,
            new_secret=self._name,
            mailer=_MailService(self._seen, self._mails, instance),
        )

    def _name(self) -> str:
        self._names += 1
        return f"mail-{self._names}"


class _MailService:
    """See `provider.Mailer`; `trouble` is what becomes of the next requests."""

    def __init__(self, seen: Seen, trouble: list[str], instance: Instance) -> None:
        self._seen = seen
        self._trouble = trouble
        self._instance = instance

    def send(self, message: EmailMessage) -> SendOutcome:
        """See `provider.Mailer`."""
        mail: list[Mail | None] = []

        def arrive() -> SendOutcome:
            mail.append(self._seen.requested(message))
            return self._answer(mail[0])

        try:
            return self._instance.call("mailer.send", arrive, retried=False, possible=_POSSIBLE)
        except ServiceError as error:
            claimed = current().notes.get("mail")
            if claimed:
                claimed.in_doubt = True
            return Unknown(str(error))

    def _answer(self, mail: Mail | None) -> SendOutcome:
        if mail is None:
            return Accepted("m")
        answer = self._trouble.pop(0) if self._trouble else "taken"
        if answer in ("taken", "lost"):
            self._seen.delivered(mail)
        mail.in_doubt |= answer == "unknown"
        return _ANSWERS[answer]
