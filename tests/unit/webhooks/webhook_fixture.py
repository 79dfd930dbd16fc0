"""The webhooks' use cases on adapters in memory, with a clock that the test moves.

What a test has happen at a call of a port (`at`): another instance in between, an error, a crash.
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
"""What a receiver answers to a delivery that fails."""

T = TypeVar("T")


class WebhookFixture:
    """One project; `process` is a fresh instance of its service.

    Attributes:
        now: The time.
        monotonic: Where the monotonic clock of a fresh instance stands; a process may have just
            begun.
        slept: Seconds that were waited for, in all.
        stored: The deliveries, for the test itself.
        calls: Names of the calls, such as `get deliveries`, in order.
        posts: Headers and body of every POST.
        answers: What receivers answer next: a status, or None for no answer; then 204.
        excerpt: How their answers' bodies begin, as the sender tells it.
        mails: Every request to the mail service.
        mail_answers: What it answers next; then it accepts them.
    """

    def __init__(self) -> None:
        """An event of the tenant t1 with one URL."""
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
        """A process that has just begun."""
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

    # What a test arranges.

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
        """Fields of a document; None where it is not there."""
        found = self.firestore.get(path)
        return found and found.fields

    def at(self, what: str, do: Callable[[], None], *, skip: int = 0) -> None:
        """Have `do` done just before the next call named `what`, or a later one."""
        self._at[what] = [None] * skip + [do]

    def after(self, what: str, do: Callable[[], None], *, skip: int = 0) -> None:
        """Have `do` done just after the effect of that call, before its answer."""
        self._after[what] = [None] * skip + [do]

    def lose_answer(self, what: str) -> None:
        """Lose the answer to the next such call: the adapter makes it again (see `RETRY`)."""
        self._repeated.add(what)

    def wait(self, seconds: float) -> None:
        """Let the time pass, for all instances."""
        self.now += timedelta(seconds=seconds)
        self.monotonic += seconds

    def photo(self, photo_id: str = "p1", email: str | None = None, **fields: Any) -> Photo:
        """A photo that is uploaded now: its document, as a trigger reads it."""
        written = {"status": "pending", "createdAt": self.now, "uploaderEmail": email} | fields
        self.put(f"events/{EVENT}/photos/{photo_id}", written)
        return Photo.read(photo_id, written, created=self.now, updated=self.now)

    def earlier_photos(self, photos: int) -> None:
        """So many photos that are there already."""
        fields = {"status": "approved", "createdAt": NOW - timedelta(days=1)}
        paths = (f"events/{EVENT}/photos/crowd-{number}" for number in range(photos))
        self.firestore.commit(*(Create(path, fields) for path in paths))

    def delivery(self, *, url: str = URL, cause: str = "write-1", **fields: Any) -> Delivery:
        """A recorded delivery, due at once."""
        made = records.new_delivery(cause, url, self.now, **fields)
        self.stored.create(EVENT, [made])
        return made

    # What a test looks at.

    def record(self, delivery: Delivery) -> Delivery:
        """The delivery as it is recorded."""
        found = self.stored.load(EVENT, delivery.id)
        assert found is not None
        return found

    @property
    def records(self) -> list[Delivery]:
        """All deliveries that can be read."""
        found = self.firestore.query(Query(collection=f"events/{EVENT}/deliveries"))
        return list(readable(found, read_delivery))

    @property
    def fired(self) -> list[tuple[str, str]]:
        """Event type and URL of all deliveries, in order."""
        return sorted((str(record.event_type), record.url) for record in self.records)

    @property
    def queued(self) -> Sequence[Task]:
        """Every task that was queued."""
        return self.tasks.accepted

    def data(self, event: str) -> Any:
        """The `data` of the one delivery of that type."""
        [body] = [record.body for record in self.records if record.event_type == event]
        return json.loads(body)["data"]

    def attempt(
        self, delivery: Delivery, number: int = 1, *, in_round: int = 0, dispatched_before: int = 0
    ) -> Delivery | None:
        """A dispatch of the task for that attempt."""
        request = AttemptRequest(
            EVENT, delivery.id, number, in_round, dispatched_before=dispatched_before
        )
        return self.process().worker.attempt(request)

    def attempts(self, delivery: Delivery, *answers: int | None) -> Delivery:
        """Attempts that are answered so, each when it is due; the record then."""
        self.answers += answers
        for _ in answers:
            record = self.record(delivery)
            assert record.next_attempt_at is not None
            self.now = max(self.now, record.next_attempt_at)
            self.process().worker.attempt(AttemptRequest.read(attempt_task(record).data))
        return self.record(delivery)

    def failed(self, delivery: Delivery | None = None) -> Delivery:
        """The record of that delivery, or of a new one, once it has failed."""
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
        """Names of the calls at which something was to happen, and did not."""
        ahead = {what for plan in (self._at, self._after) for what, acts in plan.items() if acts}
        return ahead | self._repeated

    def _do(self, planned: dict[str, list[Callable[[], None] | None]], what: str) -> None:
        waiting = planned.get(what)
        if waiting:
            do = waiting.pop(0)
            if do:
                do()


def refused(code: Code, act: Callable[[], object]) -> str:
    """`act` is refused with `code`; the message."""
    with pytest.raises(CallError) as error:
        act()
    assert error.value.code is code
    return str(error.value)


def fails() -> None:
    """The service answers with an error, or its answer is lost."""
    raise ServiceError("no")


def crashes() -> None:
    """The instance is gone."""
    raise Crash
