"""A world in which an event's receivers fail and recover, with notices."""

from collections.abc import Callable, Iterable, Mapping
from datetime import timedelta
from functools import partial
from typing import Any, Final

from emulator.provider_models.cloud_tasks import RetryPolicy
from emulator.provider_models.sendgrid import NO_ANSWER, Answer, Problem, accepted, refused
from functions.firestore.model import Create, Delete, Document, Query, Update
from functions.mail.message import EmailMessage
from functions.ports import Task
from functions.service import Service
from functions.webhooks.deliveries.delivery import Delivery, Outcome
from functions.webhooks.deliveries.delivery_store import DeliveryStore, read_delivery
from functions.webhooks.deliveries.queues import SWEEP_PERIOD
from functions.webhooks.endpoints.endpoint_store import EndpointStore
from functions.webhooks.endpoints.failing_endpoint import (
    NOTICE_QUEUE,
    FailingEndpoint,
    event_of_notice,
)
from tests.in_memory.adapters import InMemoryThreads, service_on
from tests.in_memory.documents import Firestore, InMemoryDocuments
from tests.in_memory.mailer import InMemoryMailer
from tests.in_memory.ports import InMemoryTaskQueue, InMemoryTasks
from tests.simulation.dispatch import cloud_tasks
from tests.simulation.endpoints.invariants import History
from tests.simulation.endpoints.scenario import ANN, BOB, EVENT, End, Scenario, ended
from tests.simulation.faults import NEVER_RETRIED, Fault
from tests.simulation.simulation import (
    HOUR,
    MINUTE,
    SECOND,
    START,
    Instance,
    Pool,
    Simulation,
)
from tests.simulation.simulation import End as Ended

_NOTICES: Final = RetryPolicy(attempts=5, seconds=0, min_backoff=10, max_backoff=160, doublings=4)

_SETTINGS: Final = f"events/{EVENT}/settings/webhooks"
_ENDPOINTS: Final = f"events/{EVENT}/endpoints"
_DELIVERIES: Final = f"events/{EVENT}/deliveries"
_SWEEP: Final = round(SWEEP_PERIOD.total_seconds()) * SECOND
_CALM: Final = 5 * HOUR
"""Time after the last delivery: an hour of quiet, and pauses of up to an hour."""
_BUSY: Final = 75 * MINUTE
_SELDOM: Final = 20 * MINUTE
"""Interval of the sweeps after that, which must not change anything."""

_ANSWERS: Final[Mapping[str, Answer]] = {
    "taken": accepted("m"),
    "lost": NO_ANSWER,
    "unknown": Answer(503, {}, b"<html>"),
    "later": refused(429),
    "refused": refused(401),
    "bad address": refused(400, Problem("Not a valid address.", "personalizations.0.to.0.email")),
}


class EndpointWorld:
    """One event with some hours of failures and successes, then five hours without deliveries."""

    def __init__(self, simulation: Simulation) -> None:
        """Schedule all acts."""
        self._simulation = simulation
        self._scenario = Scenario.from_choices(simulation.choices)
        self._history = History(simulation)
        self._names = 0
        self._mails = list(self._scenario.mails)
        self._firestore = Firestore(lambda: START - timedelta(days=5, hours=3))
        self._firestore.watches.append(self._written)
        self._deliveries = DeliveryStore(InMemoryDocuments(self._firestore))
        self._firestore.commit(
            Create(f"events/{EVENT}", {"tenantId": "t1", "name": "Garden party"}),
            Create(_SETTINGS, self._scenario.settings),
        )
        if dead := self._scenario.dead:
            self._deliveries.create(EVENT, dead)
            EndpointStore(InMemoryDocuments(self._firestore)).note_failure(_noted(dead[0]))
        self._firestore.now = lambda: simulation.now
        self._attempts = cloud_tasks(simulation)
        self._notices = cloud_tasks(simulation)
        self._tasks = InMemoryTasks(lambda: simulation.now, self._queued)
        self._workers = Pool(simulation, "worker", self._process)
        self._notifiers = Pool(simulation, "notifier", self._process)
        self._sweepers = Pool(simulation, "sweeper", self._process)
        for number, one in enumerate(self._scenario.ends):
            simulation.after(one.at, partial(self._end, f"delivery-{number}", one))
        for act, at in self._scenario.admin:
            simulation.after(at, partial(self._admin, act))
        last = max((end.at for end in self._scenario.ends), default=0)
        for at in (
            *range(_SWEEP, last + _BUSY, _SWEEP),
            *range(last + _BUSY, last + _CALM, _SELDOM),
        ):
            simulation.after(at, self._sweep)

    def violations(self) -> Iterable[str]:
        """Return the violations at the end."""
        records = self._firestore.query(Query(collection=_ENDPOINTS))
        deliveries = map(read_delivery, self._firestore.query(Query(collection=_DELIVERIES)))
        # A paused worker may record a failure long after the record was deleted.
        paused = {Fault.PAUSE_BEFORE, Fault.PAUSE_AFTER} & self._simulation.faults
        complete = not (self._attempts.unpunctual or paused)
        return self._history.at_rest(records, list(deliveries), complete=complete)

    # Receivers, and the admin.

    def _end(self, name: str, one: End) -> None:
        delivery = ended(name, one.url, at=self._simulation.time, works=one.works, test=one.test)
        self._deliveries.create(EVENT, [delivery])
        if delivery.outcome is Outcome.FAILED:
            self._attempts.call(name, partial(self._failed, delivery))

    def _failed(self, delivery: Delivery, name: str, done: Callable[[Ended], None]) -> None:
        """Run the task of the last attempt, which fails. The task may be repeated."""
        self._workers.run(name, lambda process: process.worker.failures.note(delivery), done)

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
        elif self._firestore.get(_SETTINGS):
            self._firestore.commit(Update(_SETTINGS, changes[what]))

    # The services that call functions.

    def _written(self, path: str, before: Document | None, after: Document | None) -> None:
        match path.split("/"):
            case ["events", _, "deliveries", _] if after:
                if before:
                    self._history.begun_again(read_delivery(before))
                self._history.ended(read_delivery(after))
            case ["events", _, "endpoints", _]:
                self._history.noted(before, after)
            case ["events", _, "settings", _]:
                self._history.saved(after.fields if after else None)
            case _:
                pass

    def _queued(self, task: Task) -> None:
        if task.queue != NOTICE_QUEUE:
            return  # a resent delivery, which does not end in this world

        def notify(name: str, done: Callable[[Ended], None]) -> None:
            event_id = event_of_notice(task.data)
            self._notifiers.run(name, lambda process: process.notifier.notify(event_id), done)

        self._notices.call(task.name, notify, due=task.due, backoff=_NOTICES.backoff)

    def _sweep(self) -> None:
        self._names += 1
        self._sweepers.run(f"sweep-{self._names}", lambda process: process.endpoint_sweep.sweep())

    def _mailed(self, message: EmailMessage) -> Answer:
        self._history.requested(message)
        return _ANSWERS[self._mails.pop(0) if self._mails else "taken"]

    # The instances of each function.

    def _process(self, instance: Instance) -> Service:
        # An email is requested once. Only a later sweep retries it.
        once = partial(instance.call, possible=NEVER_RETRIED)
        return service_on(
            InMemoryDocuments(self._firestore, instance.call),
            clock=instance.clock,
            task_queue=InMemoryTaskQueue(self._tasks, instance.call),
            sender=lambda: None,
            mailer=lambda: InMemoryMailer(self._mailed, once),
            threads=InMemoryThreads(instance.in_parallel),
        )


def _noted(failed: Delivery) -> FailingEndpoint:
    """Return the record of an endpoint after a failed delivery."""
    ended_at = failed.ended_at or START
    return FailingEndpoint(
        event_id=EVENT,
        id=failed.endpoint,
        tenant_id="t1",
        url=failed.url,
        since=ended_at,
        failed_at=ended_at,
        due_at=ended_at,
    )
