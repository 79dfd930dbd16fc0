"""A recap on adapters in memory: an event, its guests, an email provider, and a settable clock."""

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

import pytest

from emulator.provider_models.sendgrid import Answer, accepted
from functions.call.caller import Caller, Role
from functions.call.errors import CallError
from functions.email_address import address_hash
from functions.firestore.model import Create, Merge, Put, Query
from functions.links.link import PreferencesLinks
from functions.mail.mail_status import DeliveryReport, DeliveryStatus
from functions.mail.message import BYTES_PER_RECIPIENT, EmailMessage, Mailer, MailSender
from functions.mail.translation import Texts
from functions.parameters import Parameters
from functions.ports import Clock, ParallelMap, Task
from functions.preferences.preferences import address_record_id
from functions.recap.audience.guests import Guest
from functions.recap.audience.photos import Picture
from functions.recap.delivery_status import DeliveryReportRecorder
from functions.recap.ledger.batch import Batch, RecapKey
from functions.recap.ledger.recap_store import RecapStore
from functions.recap.mail.composer import Composer, Recipient
from functions.recap.preview import Preview
from functions.recap.recap_arguments import TEXTS, Mode, PreviewArguments, RecapArguments
from functions.recap.report import RecapResult
from functions.recap.slots import Slots
from functions.service import Service
from functions.wall.wall_event import WallEvent
from tests.in_memory.adapters import (
    KEYS,
    InMemoryAccounts,
    InMemoryRandom,
    InMemorySecrets,
    one_by_one,
    service_on,
)
from tests.in_memory.documents import Firestore, InMemoryDocuments
from tests.in_memory.mailer import InMemoryMailer
from tests.in_memory.through import Crash, ServiceError, Through, at_once

EVENT = "e1"
TENANT = "t1"
NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
ORGANIZER = Caller("organizer", Role.ADMIN, TENANT)

ERRORS = b'{"errors": [{"message": "no", "field": null}]}'

T = TypeVar("T")


def guest(number: int) -> str:
    """Return the address of a guest."""
    return f"guest-{number}@example.com"


def recipient(
    pictures: Sequence[Picture] = (),
    *,
    address: str = "a@example.com",
    name: str = "Anna",
    photo_count: int | None = None,
    links: PreferencesLinks,
) -> Recipient:
    """Return a guest with these pictures, newest first. `photo_count` may include others."""
    counted = len(pictures) if photo_count is None else photo_count
    mailed = Guest(address, name, photo_count=counted)
    for number, picture in enumerate(pictures):
        at = NOON - timedelta(seconds=number)
        mailed.newest.add(str(number), (False, at), picture)
    return Recipient(mailed, links)


def composer_of(
    mode: Mode = Mode.PERSONAL,
    *,
    sender: str | MailSender = "Wall <photos@example.com>",
    reel: Sequence[Picture] = (),
    photo_count: int = 0,
    texts: Texts | None = None,
    logo_url: str | None = None,
    **others: Any,
) -> Composer:
    """Return the composer of an event's emails.

    `others` has texts of the organizer, and fields of the event's document.
    """
    written = {name: others.pop(name) for name in TEXTS.keys() & others.keys()}
    fields = {"name": "Summer Party", "galleryUrl": "https://example.com/g"} | others
    words = itertools.count()
    return Composer(
        WallEvent.read(fields, updated=NOON),
        RecapArguments(event_id=EVENT, mode=mode, **written),
        sender if isinstance(sender, MailSender) else MailSender(address=sender),
        reel=reel,
        photo_count=photo_count,
        random=InMemoryRandom(lambda: f"word{next(words):05}"),
        bytes_per_recipient=BYTES_PER_RECIPIENT,
        texts=texts,
        logo_url=logo_url,
    )


@dataclass(frozen=True)
class RecapLimits:
    """Recipients of one call, and emails of a tenant in 24 hours."""

    per_call: int = 5000
    per_tenant: int = 20_000


@dataclass
class At:
    """Runs an action at a call with that name, `before` its effect or after it.

    The names are those of `InMemoryDocuments`, and `mailer.send`.
    """

    what: str
    do: Callable[[], object]
    before: bool = False
    number: int = 1

    def __call__(self, what: str, effect: Callable[[], T], *, retried: bool = True) -> T:
        """Run the effect and, at that call, the action."""
        del retried
        self.number -= what == self.what
        if what != self.what or self.number:
            return effect()
        if self.before:
            self.do()
            return effect()
        answer = effect()
        self.do()
        return answer


def crash() -> None:
    """Stop the process."""
    raise Crash


def fail() -> None:
    """Fail like a service whose adapter has stopped trying."""
    raise ServiceError


@dataclass
class RecapFixture:
    """One project with an event, for tests of recaps.

    Attributes:
        now: The time.
        answers: Next answers of the email provider. Later requests get 202.
        mails: The recipients of emails in order, with the message.
        slept: The duration of each sleep in seconds.
        hosts: The value of `PHOTO_HOSTS`.
        lacks: Name of a setting that the deployment lacks.
        parameters: Further parameters of the deployment.
        tasks: The tasks that were queued.
        claims: The claims of users in Firebase Authentication, or None without a user.
    """

    now: datetime = NOON
    answers: list[Answer] = field(default_factory=list)
    takes: bool = False  # sends the emails even if it answers with an error
    mails: list[tuple[str, EmailMessage]] = field(default_factory=list)
    requests: int = 0
    slept: list[float] = field(default_factory=list)
    hosts: str = "*"
    lacks: str | None = None
    slots: Slots = field(default_factory=lambda: Slots(wait_seconds=0))
    parameters: dict[str, Any] = field(default_factory=dict)
    tasks: list[Task] = field(default_factory=list)
    mailer: Mailer | None = None  # instead of one whose responses are SendGrid's
    claims: Mapping[str, Any] | Exception | None = None
    _words: Any = field(default_factory=itertools.count)

    def __post_init__(self) -> None:
        """Create a published event without photos."""
        self.firestore = Firestore(lambda: self.now)
        self.documents = InMemoryDocuments(self.firestore)
        self._photos = itertools.count()
        self.event(EVENT)

    def event(self, event_id: str, tenant: str = TENANT) -> None:
        """Write another event."""
        event = {"tenantId": tenant, "name": "Summer Party"}
        self.documents.commit(Create(f"events/{event_id}", event))

    def photo(
        self,
        email: str | None,
        *,
        photo_id: str | None = None,
        event_id: str = EVENT,
        **fields: Any,
    ) -> None:
        """Write an approved photo."""
        number = next(self._photos)
        document = {
            "status": "approved",
            "url": f"https://example.com/{number}.jpg",
            "uploaderEmail": email,
            "createdAt": self.now,
            "approvedAt": self.now,
        }
        path = f"events/{event_id}/photos/{photo_id or f'photo-{number:05}'}"
        self.documents.commit(Put(path, document | fields))

    def guests(self, count: int, event_id: str = EVENT) -> None:
        """Write a photo for each of `count` guests."""
        for number in range(count):
            self.photo(guest(number), event_id=event_id)

    def opt_out(self, address: str, flag: str = "recap") -> None:
        """Turn the flag of a guest off."""
        record = {"emailPreferences": {flag: False}}
        self.documents.commit(Put(f"users/guest-{address_hash(address)}", record))

    def account(self, uid: str, email: str, **flags: bool) -> None:
        """Write an account's record, and list the account as the trigger does."""
        record = {"email": email, "emailPreferences": flags}
        self.documents.commit(Put(f"users/{uid}", record))
        if noted_in := address_record_id(record):
            self.documents.commit(Merge(f"users/{noted_in}", {("accounts", uid): True}))

    def process(self, through: Through = at_once, limits: RecapLimits | None = None) -> Service:
        """Start a process with two recipients a batch, and return its service.

        Each call of Firestore, and each request to the email provider, passes `through`.
        """
        limits = limits or RecapLimits()
        secrets = InMemorySecrets({name: KEYS[name] for name in KEYS if name != self.lacks})
        return service_on(
            InMemoryDocuments(self.firestore, through),
            slots=self.slots,
            clock=Clock(lambda: self.now, self.monotonic, self._sleep),
            mailer=lambda: self.mailer or InMemoryMailer(self._answer, through, secrets),
            secrets=secrets,
            task_queue=self,
            accounts=InMemoryAccounts(claims_of=self._claims_of),
            random=InMemoryRandom(lambda: f"word{next(self._words)}"),
            parameters=Parameters(
                public_base_url="https://example.com",
                mail_from="Wall <photos@example.com>",
                mail_reply_to="none" if self.lacks == "MAIL_REPLY_TO" else "",
                photo_hosts=self.hosts,
                recipients_per_recap=limits.per_call,
                recap_mails_per_day=limits.per_tenant,
                **self.parameters,
            ),
        )

    def enqueue(self, task: Task) -> None:
        """Queue the task."""
        self.tasks.append(task)

    def send(
        self,
        through: Through = at_once,
        *,
        caller: Caller = ORGANIZER,
        limits: RecapLimits | None = None,
        **arguments: Any,
    ) -> RecapResult:
        """Send a recap as the organizer."""
        read = RecapArguments.read({"eventId": EVENT, **arguments})
        return self.process(through, limits).recap_sender.send(caller, read)

    def refusal(self, through: Through = at_once, **arguments: Any) -> CallError:
        """Send a recap, and return its error."""
        with pytest.raises(CallError) as refused:
            self.send(through, **arguments)
        return refused.value

    def crash(self, what: str, *, before: bool = False, number: int = 1, **arguments: Any) -> None:
        """Send a recap, and stop the process at that call of a port (see `At`)."""
        with pytest.raises(Crash):
            self.send(At(what, crash, before, number), **arguments)

    def report_recorder(
        self, through: Through = at_once, in_parallel: ParallelMap = one_by_one
    ) -> DeliveryReportRecorder:
        """Return the use case that records delivery reports."""
        return replace(
            self.process(through).delivery_report_recorder, recaps_in_parallel=in_parallel
        )

    def preview(
        self,
        through: Through = at_once,
        *,
        caller: Caller = ORGANIZER,
        limits: RecapLimits | None = None,
        address: str | None = None,
        min_guests: int = 0,
        **arguments: Any,
    ) -> Preview:
        """Preview the recap as the organizer. `address` is the organizer's verified address."""
        read = PreviewArguments.read({"eventId": EVENT, **arguments})
        preview = replace(self.process(through, limits).recap_preview, min_guests=min_guests)
        return preview.show(caller, read, address)

    def later(self, **time: float) -> None:
        """Advance the clock."""
        self.now += timedelta(**time)

    def monotonic(self) -> float:
        """Return the seconds of the clock, which starts at zero."""
        return (self.now - NOON).total_seconds()

    @property
    def addresses(self) -> list[str]:
        """The addresses that got an email, in order."""
        return [address for address, _ in self.mails]

    def labels(self, address: str) -> Mapping[str, str]:
        """Return the labels of the last email to the address."""
        found = [
            copy.labels
            for _, message in self.mails
            for copy in message.copies
            if copy.address == address
        ]
        return found[-1]

    def report(self, address: str, status: DeliveryStatus) -> DeliveryReport:
        """Return a delivery report of the last email to the address."""
        return DeliveryReport(status, self.labels(address), address)

    def collection(self, path: str) -> dict[str, Mapping[str, Any]]:
        """Return the fields of every document of a collection by ID."""
        found = self.firestore.query(Query(collection=path))
        return {document.id: document.fields for document in found}

    def recaps(self) -> dict[str, Mapping[str, Any]]:
        """Return the fields of every recap by ID."""
        return self.collection(f"events/{EVENT}/recaps")

    def recap(self) -> Mapping[str, Any]:
        """Return the fields of the only recap."""
        (recap,) = self.recaps().values()
        return recap

    def batches(self) -> Sequence[Batch]:
        """Return the batches of all recaps."""
        store = RecapStore(self.documents)
        return [batch for recap in self.recaps() for batch in store.batches(RecapKey(EVENT, recap))]

    def _claims_of(self, _: str) -> Mapping[str, Any] | None:
        if isinstance(self.claims, Exception):
            raise self.claims
        return self.claims

    def _sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.later(seconds=seconds)

    def _answer(self, message: EmailMessage) -> Answer:
        self.requests += 1
        answer = self.answers.pop(0) if self.answers else accepted("made-up")
        if answer.status == 202 or self.takes:
            self.mails += [(copy.address, message) for copy in message.copies]
        return answer
