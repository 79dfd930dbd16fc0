"""The webhooks' use cases on adapters in memory, with a clock that the test sets.

A test can inject an action at a call of a port (`at`, `after`): another instance that acts in
between, an error or a crash.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import Any, Final, TypeVar

import pytest

from emulator.provider_models.sendgrid import Answer, accepted
from functions.call.caller import Caller, Role
from functions.call.errors import CallError, Code
from functions.firestore.model import Create, Delete, Put, Query, readable
from functions.mail.message import EmailMessage
from functions.parameters import Parameters
from functions.ports import Clock, ParallelMap, Task
from functions.service import Service
from functions.wall.wall_event import Photo
from functions.webhooks.deliveries.attempt_task import AttemptRequest, attempt_task
from functions.webhooks.deliveries.delivery import Delivery
from functions.webhooks.deliveries.delivery_store import DeliveryStore, read_delivery
from functions.webhooks.deliveries.queues import RETRY_SCHEDULE
from functions.webhooks.worker import SendError
from tests.in_memory import records
from tests.in_memory.adapters import InMemoryRandom, InMemoryThreads, one_by_one, service_on
from tests.in_memory.documents import Firestore, InMemoryDocuments
from tests.in_memory.mailer import InMemoryMailer
from tests.in_memory.ports import InMemoryTaskQueue, InMemoryTasks, ScriptedSender
from tests.in_memory.through import Crash, ServiceError

ADMIN: Final = Caller("u1", Role.ADMIN, "t1")
NOW: Final = records.NOW
EVENT: Final = "e1"
URL: Final = "https://example.com/hook"
OTHER: Final = "https://example.com/other"

FAILURES: Final = [500] * len(RETRY_SCHEDULE)
"""A receiver's answers to a delivery that fails."""

T = TypeVar("T")


class WebhookFixture:
    """One project, with an event of the tenant t1 and its webhooks.

    Attributes:
        now: The time.
        monotonic: The monotonic clock, in seconds. It may be 0, as in a process that has just
            started.
        slept: Total seconds of all sleeps.
        stored: The deliveries, for use by tests.
        calls: Names of the calls, such as `get deliveries`, in order.
        posts: Headers and body of every POST.
        answers: Next answers of receivers: a status, or None for no answer. Later answers are 204.
        excerpt: The beginning of the response bodies, as the sender returns it.
        mails: Every request to the email provider.
        mail_answers: Next answers of the email provider. Later requests are accepted.
    """

    def __init__(self) -> None:
        """Create an event of the tenant t1 with one URL."""
        self.now = NOW
        self.monotonic = 0.0
        self.slept = 0.0
        self.calls: list[str] = []
        self.posts: list[tuple[Mapping[str, str], bytes]] = []
        self.answers: list[int | None] = []
        self.excerpt: str | None = None
        self.mails: list[EmailMessage] = []
        self.mail_answers: list[Answer] = []
        self.parameters = Parameters()
        self.in_parallel: ParallelMap = one_by_one
        self._ids = 0
        self._secrets_made = 0
        self._repeated: set[str] = set()
        self._at: dict[str, list[Callable[[], None] | None]] = {}
        self._after: dict[str, list[Callable[[], None] | None]] = {}
        self.firestore = Firestore(lambda: self.now)
        self.tasks = InMemoryTasks(lambda: self.now)
        self.stored = DeliveryStore(InMemoryDocuments(self.firestore))
        self.put(f"events/{EVENT}", {"tenantId": "t1"})
        self.subscribe(URL)

    def process(self) -> Service:
        """Start a process, and return its service."""
        sender = ScriptedSender(self._answer, self._through, lambda: self.excerpt)
        return service_on(
            InMemoryDocuments(self.firestore, self._through),
            clock=Clock(lambda: self.now, lambda: self.monotonic, self._sleep),
            task_queue=InMemoryTaskQueue(self.tasks, self._through),
            sender=lambda: sender,
            mailer=lambda: InMemoryMailer(self._send, self._through),
            threads=InMemoryThreads(self.in_parallel),
            random=InMemoryRandom(self._new_word, self._new_secret),
            parameters=self.parameters,
        )

    # Arrange.

    def subscribe(self, *entries: Any, **fields: Any) -> None:
        """Save these webhook settings."""
        self.put(f"events/{EVENT}/settings/webhooks", {"urls": list(entries), **fields})

    def put(self, path: str, fields: Mapping[str, Any]) -> None:
        """Write a document."""
        self.firestore.commit(Put(path, fields))

    def delete(self, *paths: str) -> None:
        """Delete documents."""
        self.firestore.commit(*map(Delete, paths))

    def fields(self, path: str) -> Any:
        """Return the fields of a document, or None if it does not exist."""
        found = self.firestore.get(path)
        return found and found.fields

    def at(self, what: str, do: Callable[[], None], *, skip: int = 0) -> None:
        """Run `do` just before the next call named `what`, after `skip` such calls."""
        self._at[what] = [None] * skip + [do]

    def after(self, what: str, do: Callable[[], None], *, skip: int = 0) -> None:
        """Run `do` just after the effect of that call, before its answer."""
        self._after[what] = [None] * skip + [do]

    def lose_answer(self, what: str) -> None:
        """Lose the answer to the next call named `what`. The adapter repeats it (see `RETRY`)."""
        self._repeated.add(what)

    def wait(self, seconds: float) -> None:
        """Advance both clocks of all instances."""
        self.now += timedelta(seconds=seconds)
        self.monotonic += seconds

    def photo(self, photo_id: str = "p1", email: str | None = None, **fields: Any) -> Photo:
        """Upload a photo now, and return it as a trigger reads it."""
        written = {"status": "pending", "createdAt": self.now, "uploaderEmail": email} | fields
        self.put(f"events/{EVENT}/photos/{photo_id}", written)
        return Photo.read(photo_id, written, created=self.now, updated=self.now)

    def earlier_photos(self, photos: int) -> None:
        """Write approved photos of the day before."""
        fields = {"status": "approved", "createdAt": NOW - timedelta(days=1)}
        paths = (f"events/{EVENT}/photos/crowd-{number}" for number in range(photos))
        self.firestore.commit(*(Create(path, fields) for path in paths))

    def delivery(self, *, url: str = URL, cause: str = "write-1", **fields: Any) -> Delivery:
        """Record a delivery that is due now."""
        made = records.new_delivery(cause, url, self.now, **fields)
        self.stored.create(EVENT, [made])
        return made

    # Inspect.

    def record(self, delivery: Delivery) -> Delivery:
        """Return the recorded state of the delivery."""
        found = self.stored.load(EVENT, delivery.id)
        assert found is not None
        return found

    @property
    def records(self) -> list[Delivery]:
        """All readable deliveries."""
        found = self.firestore.query(Query(collection=f"events/{EVENT}/deliveries"))
        return list(readable(found, read_delivery))

    @property
    def fired(self) -> list[tuple[str, str]]:
        """Event type and URL of all deliveries, sorted."""
        return sorted((str(record.event_type), record.url) for record in self.records)

    @property
    def queued(self) -> Sequence[Task]:
        """Every task that was queued."""
        return self.tasks.accepted

    def data(self, event: str) -> Any:
        """Return the `data` of the only delivery of that type."""
        [body] = [record.body for record in self.records if record.event_type == event]
        return json.loads(body)["data"]

    def attempt(
        self, delivery: Delivery, number: int = 1, *, in_round: int = 0, dispatched_before: int = 0
    ) -> Delivery | None:
        """Dispatch the task of that attempt, and return the delivery."""
        request = AttemptRequest(
            EVENT, delivery.id, number, in_round, dispatched_before=dispatched_before
        )
        return self.process().worker.attempt(request)

    def attempts(self, delivery: Delivery, *answers: int | None) -> Delivery:
        """Run attempts with these answers, each when it is due, and return the record."""
        self.answers += answers
        for _ in answers:
            record = self.record(delivery)
            assert record.next_attempt_at is not None
            self.now = max(self.now, record.next_attempt_at)
            self.process().worker.attempt(AttemptRequest.read(attempt_task(record).data))
        return self.record(delivery)

    def failed(self, delivery: Delivery | None = None) -> Delivery:
        """Let that delivery, or a new one, fail, and return its record."""
        return self.attempts(delivery or self.delivery(), *FAILURES)

    def _sleep(self, seconds: float) -> None:
        self.slept += seconds
        self.now += timedelta(seconds=seconds)

    def _answer(self, _: str, headers: Mapping[str, str], body: bytes) -> int:
        self.posts.append((headers, body))
        status = self.answers.pop(0) if self.answers else 204
        if status is None:
            raise SendError("no answer within 5 seconds")
        return status

    def _send(self, message: EmailMessage) -> Answer:
        self.mails.append(message)
        return self.mail_answers.pop(0) if self.mail_answers else accepted("m1")

    def _new_word(self) -> str:
        self._ids += 1
        return str(self._ids)

    def _new_secret(self) -> str:
        self._secrets_made += 1
        return "whsec_made" if self._secrets_made == 1 else f"whsec_made{self._secrets_made}"

    def _through(self, what: str, effect: Callable[[], T], *, retried: bool = True) -> T:
        del retried
        self.calls.append(what)
        self._do(self._at, what)
        if what in self._repeated:
            self._repeated.remove(what)
            effect()
        answer = effect()
        self._do(self._after, what)
        return answer

    @property
    def planned(self) -> set[str]:
        """Names of calls with an action that has not run."""
        ahead = {what for plan in (self._at, self._after) for what, acts in plan.items() if acts}
        return ahead | self._repeated

    def _do(self, planned: dict[str, list[Callable[[], None] | None]], what: str) -> None:
        waiting = planned.get(what)
        if waiting:
            do = waiting.pop(0)
            if do:
                do()


def refused(code: Code, act: Callable[[], object]) -> str:
    """Assert that `act` is rejected with `code`, and return the message."""
    with pytest.raises(CallError) as error:
        act()
    assert error.value.code is code
    return str(error.value)


def fails() -> None:
    """Let the call fail, or lose its answer."""
    raise ServiceError("no")


def crashes() -> None:
    """Stop the instance."""
    raise Crash
