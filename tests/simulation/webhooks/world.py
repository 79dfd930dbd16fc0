"""A world with guests, staff and receivers of an event, and the real use cases."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Final, TypeVar

from emulator.provider_models.cloud_tasks import RetryPolicy
from functions.call.caller import Caller, Role
from functions.call.errors import CallError
from functions.firestore.model import ChangedMeanwhileError, Create, Delete, Document, Put, Update
from functions.parameters import Parameters
from functions.ports import NotDueError, Task
from functions.service import Service
from functions.wall.wall_event import Photo, WallEvent
from functions.webhooks.deliveries.attempt_task import AttemptRequest
from functions.webhooks.deliveries.delivery import Delivery, EndedWithin
from functions.webhooks.deliveries.delivery_store import read_delivery
from functions.webhooks.deliveries.queues import RETRY_SCHEDULE, SLOW_QUEUE, SWEEP_PERIOD
from tests.in_memory.adapters import InMemoryRandom, InMemoryThreads, service_on
from tests.in_memory.documents import Firestore, InMemoryDocuments
from tests.in_memory.ports import InMemoryTaskQueue, InMemoryTasks
from tests.in_memory.through import ServiceError
from tests.simulation.dispatch import cloud_tasks, eventarc
from tests.simulation.faults import Fault
from tests.simulation.simulation import (
    SECOND,
    START,
    End,
    Instance,
    Pool,
    Simulation,
    current,
)
from tests.simulation.webhooks import invariants
from tests.simulation.webhooks.history import A_SECOND, UNREADABLE, URLS_WRITTEN, History
from tests.simulation.webhooks.receivers import Receivers
from tests.simulation.webhooks.scenario import EVENT, OUTAGE, TENANT, Scenario

T = TypeVar("T")

_ROUNDS: Final = 2
_SWEEP: Final = round(SWEEP_PERIOD.total_seconds()) * SECOND
_CALLER: Final = Caller("admin", Role.SUPERADMIN, TENANT)
_SETTINGS: Final = f"events/{EVENT}/settings/webhooks"
_BACKOFF: Final = {
    step.queue: RetryPolicy(100, 0, step.backoff_seconds, step.backoff_seconds, 0).backoff
    for step in (*RETRY_SCHEDULE, replace(RETRY_SCHEDULE[0], queue=SLOW_QUEUE))
}
_WORKERS_RAISE: Final = (NotDueError, ChangedMeanwhileError)

_CALM: Final = frozenset({Fault.RETRIED_BEFORE, Fault.RETRIED_AFTER, Fault.RESTART})


class WebhookWorld:
    """One event, from its first photo until every delivery has ended."""

    def __init__(self, simulation: Simulation) -> None:
        """Schedule all acts."""
        self._simulation = simulation
        self._scenario = Scenario.from_choices(simulation.choices)
        self._history = History(
            simulation,
            lambda: self._cloud_tasks.unpunctual or self._cloud_tasks.repeats,
        )
        self._names = 0
        self._people = 0
        self._firestore = Firestore(lambda: URLS_WRITTEN)
        self._set_up()
        self._firestore.now = lambda: simulation.now
        self._eventarc = eventarc(simulation)
        self._cloud_tasks = cloud_tasks(simulation)
        self._tasks = InMemoryTasks(lambda: simulation.now, self._queued)
        self._triggers = self._pool("trigger")
        self._workers = {queue: self._pool(queue, *_WORKERS_RAISE) for queue in _BACKOFF}
        self._sweepers = self._pool("sweeper")
        self._actions = self._pool("actions", CallError, deliveries_at_once=5)
        self._firestore.watches.append(self._written)
        self._begin()

    def violations(self) -> Iterable[str]:
        """Return the violations at the end."""
        return invariants.at_rest(self._history, self._scenario, self._firestore)

    # Initial documents, and acts of users.

    def _set_up(self) -> None:
        photos = [
            Create(f"events/{EVENT}/photos/{photo_id}", fields)
            for photo_id, fields in self._scenario.photos.items()
        ]
        self._firestore.commit(
            Create(f"events/{EVENT}", {"tenantId": TENANT, "status": "published"}),
            Create(_SETTINGS, self._scenario.settings),
            *photos,
        )
        if self._scenario.unreadable:
            fields = {"event": "photo.printed", "nextAttemptAt": URLS_WRITTEN}
            self._firestore.commit(Create(f"events/{EVENT}/deliveries/{UNREADABLE}", fields))

    def _begin(self) -> None:
        for upload in self._scenario.uploads:
            path = f"events/{EVENT}/photos/{upload.photo_id}"
            self._later(upload.at, partial(self._firestore.commit, Create(path, upload.fields)))
            if upload.moderated:
                write = Update(path, {"status": upload.moderated})
                self._later(upload.moderated_at, partial(self._if_there, path, write))
            if upload.deleted_at:
                self._later(upload.deleted_at, partial(self._if_there, path, Delete(path)))
        for act, at in self._scenario.organizer:
            self._later(at, partial(self._organizer, act))
        self._later(_SWEEP, self._sweep)

    def _if_there(self, path: str, write: Update | Delete) -> None:
        if self._firestore.get(path):
            self._firestore.commit(write)

    def _later(self, at: int, do: Callable[[], object]) -> None:
        def done() -> None:
            self._people -= 1
            do()

        self._people += 1
        self._simulation.after(at, done)

    def _organizer(self, what: str) -> None:
        event = f"events/{EVENT}"
        match what:
            case "archive":
                self._firestore.commit(Update(event, {"status": "archived"}))
            case "publish again":
                self._firestore.commit(Update(event, {"status": "published"}))
            case "switch off":
                self._switched_off()
            case "rotate" | "announce":
                active_in = timedelta(minutes=1 if what == "announce" else 0)
                self._act(
                    what,
                    lambda process: process.actions.rotate_secret(EVENT, _CALLER, active_in),
                )
            case "withdraw":
                self._act(what, self._withdraw)
            case "test":
                url = self._scenario.settings["urls"][0]["url"]
                self._history.tests += 1
                self._act(what, lambda process: process.url_test.send_test(EVENT, url))
            case _:
                ended = EndedWithin(since=START - timedelta(days=6))
                self._act(what, lambda process: process.actions.resend_page(EVENT, ended))

    def _switched_off(self) -> None:
        """Disable every URL for some time."""
        seconds = self._simulation.choices.between("off for", 1, 90)
        now, until = self._simulation.time, self._simulation.time + seconds * SECOND
        names = [entry["url"] for entry in self._scenario.settings["urls"]]
        settings = {**self._scenario.settings, "urlsChangedAt": URLS_WRITTEN}
        off = settings | {"off": dict.fromkeys(names, "since")}
        self._history.off.append((now, until))
        self._firestore.commit(Put(_SETTINGS, off))
        self._later(seconds * SECOND, lambda: self._firestore.commit(Put(_SETTINGS, settings)))

    def _withdraw(self, process: Service) -> None:
        """Withdraw the secret and check the response."""
        withdrew = process.actions.withdraw_secret(EVENT, _CALLER)
        if not withdrew and current().notes.get("withdrew"):
            self._simulation.violation("the secret was withdrawn, and the call says it was not")

    def _act(self, what: str, act: Callable[[Service], object]) -> None:
        def ended(_: End) -> None:
            self._people -= 1

        self._people += 1
        self._actions.run(what, act, ended)

    def _ended(self, delivery: Delivery) -> None:
        """Resend an ended delivery with some probability, possibly with two clicks."""
        choices = self._simulation.choices
        name = f"{delivery.id} round {delivery.round + 1}"
        if delivery.outcome.is_open or delivery.round == _ROUNDS or self._scenario.sent_again == 0:
            return
        if choices.happens(name, self._scenario.sent_again, "sent again"):
            at = choices.between(f"{name} when", 0, 5 * SECOND)
            for click in range(1 + choices.happens(f"{name} twice", 0.5, "two clicks")):
                act = partial(
                    self._act,
                    f"{name} {click}",
                    lambda process: process.actions.resend(EVENT, delivery.id),
                )
                self._later(at + click * SECOND // 10, act)

    # The services that call functions.

    def _written(self, path: str, before: Document | None, after: Document | None) -> None:
        match path.split("/"):
            case ["events", _]:
                self._event_written(_event(before), _event(after))
            case ["events", _, "photos", photo_id]:
                self._photo_written(_photo(photo_id, before), _photo(photo_id, after))
            case ["events", _, "secrets", _] if after:
                self._history.secret_recorded(before.fields if before else {}, after.fields)
            case ["events", _, "deliveries", name] if after and name != UNREADABLE:
                delivery = read_delivery(after)
                self._history.recorded(delivery)
                self._ended(delivery)
            case _:
                pass

    def _photo_written(self, before: Photo | None, after: Photo | None) -> None:
        write_id = self._name("write")
        self._history.owed += invariants.owed_for_photo(before, after)

        def publish(process: Service) -> None:
            process.publisher.photo_written(write_id, EVENT, before, after)

        self._eventarc.call(write_id, partial(self._trigger, publish))

    def _event_written(self, before: WallEvent | None, after: WallEvent | None) -> None:
        write_id = self._name("write")
        self._history.owed += invariants.owed_for_event(before, after)

        def publish(process: Service) -> None:
            process.publisher.event_written(write_id, EVENT, before, after)

        self._eventarc.call(write_id, partial(self._trigger, publish))

    def _trigger(
        self, publish: Callable[[Service], None], name: str, done: Callable[[End], None]
    ) -> None:
        self._triggers.run(name, publish, done)

    def _queued(self, task: Task) -> None:
        def attempt(name: str, done: Callable[[End], None]) -> None:
            before = int(name.rpartition("/")[2]) - 1
            request = AttemptRequest.read(task.data, dispatched_before=before)

            def work(process: Service) -> None:
                current().notes["round"] = request.round
                current().notes["attempt"] = request.attempt
                process.worker.attempt(request)

            def ended(end: End) -> None:
                done(end)
                self._check_acknowledgements(request.delivery_id)

            self._workers[task.queue].run(name, work, ended)

        self._simulation.note("tasks", f"{task.name} in {task.queue}, due {task.due}")
        self._check_place(task)
        self._history.queued(task)
        self._cloud_tasks.call(task.name, attempt, due=task.due, backoff=_BACKOFF[task.queue])

    def _check_acknowledgements(self, delivery_id: str) -> None:
        """Check that an instance that got a 2xx and did not crash has recorded it."""
        found = self._record(delivery_id)
        if found and not any(attempt.acknowledged for attempt in found.log):
            for post in self._history.posts:
                if post.delivery_id == delivery_id and post.acknowledged and post.survived:
                    self._simulation.violation(f"{delivery_id}: {post.status} is not recorded")

    def _check_place(self, task: Task) -> None:
        """Check that the record determines the queue, so that repetitions have the same name."""
        request = AttemptRequest.read(task.data)
        found = self._record(request.delivery_id)
        if found is None or (found.round, found.due_attempt) != (
            request.round,
            request.attempt,
        ):
            return
        if found.outcome.is_open and found.slow != (task.queue == SLOW_QUEUE):
            self._simulation.violation(f"{task.name} is in {task.queue}, and its record says not")

    def _record(self, delivery_id: str) -> Delivery | None:
        found = self._firestore.get(f"events/{EVENT}/deliveries/{delivery_id}")
        return read_delivery(found) if found else None

    def _sweep(self) -> None:
        busy = self._people or self._eventarc.under_way or self._cloud_tasks.under_way
        if busy or self._history.open:
            self._later(_SWEEP, self._sweep)
            # The scheduled function logs its faults, and the next sweep continues.
            self._sweepers.run(self._name("sweep"), self._swept)

    def _swept(self, process: Service) -> None:
        unpunctual = self._eventarc.unpunctual or self._cloud_tasks.unpunctual
        calm = not (unpunctual or self._scenario.outage)
        if process.sweeper.sweep() and calm and self._simulation.faults <= _CALM:
            self._simulation.violation("a task was lost without a fault")

    def _name(self, what: str) -> str:
        self._names += 1
        return f"{what}-{self._names}"

    # The instances of each function.

    def _pool(
        self, name: str, *raised: type[Exception], deliveries_at_once: int = 2
    ) -> Pool[Service]:
        parameters = Parameters(
            event_deliveries_a_second=A_SECOND, deliveries_at_once=deliveries_at_once
        )

        def process(instance: Instance) -> Service:
            through = partial(self._through, instance)
            receivers = Receivers(
                self._history, self._scenario.receivers, instance, self._scenario.crowded
            )
            return service_on(
                InMemoryDocuments(self._firestore, through),
                clock=instance.clock,
                task_queue=InMemoryTaskQueue(self._tasks, through),
                sender=lambda: receivers,
                threads=InMemoryThreads(instance.in_parallel),
                random=InMemoryRandom(lambda: self._name("test"), lambda: self._name("secret")),
                parameters=parameters,
            )

        return Pool(self._simulation, name, process, expected=(ServiceError, *raised))

    def _through(
        self, instance: Instance, what: str, effect: Callable[[], T], *, retried: bool = True
    ) -> T:
        """Call a service. In an outage, Cloud Tasks rejects every task."""
        if what == "queue.enqueue" and self._scenario.outage and self._simulation.time < OUTAGE:
            raise ServiceError(what)
        return instance.call(what, effect, retried=retried)


def _photo(photo_id: str, found: Document | None) -> Photo | None:
    if found is None:
        return None
    return Photo.read(photo_id, found.fields, created=found.created, updated=found.written)


def _event(found: Document | None) -> WallEvent | None:
    return WallEvent.read(found.fields, updated=found.written) if found else None
