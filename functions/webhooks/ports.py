"""What the use cases of the webhooks need of the world; `wiring` names who does it.

Every method is one round trip. What is said of each holds for every adapter, the tests' too.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, Protocol, TypeAlias

from functions.gcp.task_queue import Task
from functions.mail.message import Message
from functions.mail.outcome import Outcome as MailOutcome
from functions.wall.photo import Photo
from functions.webhooks.deliveries.attempt_task import AttemptRequest
from functions.webhooks.deliveries.delivery import (
    Cursor,
    Delivery,
    Ended,
    EndedWithin,
    Outcome,
    Place,
    SentTo,
)
from functions.webhooks.deliveries.log_share import LogShare
from functions.webhooks.deliveries.webhook_secret import WebhookSecret
from functions.webhooks.endpoints.endpoint_url import EndpointUrl
from functions.webhooks.messages.milestone import Milestone
from functions.webhooks.notices.watch import Watch

Version: TypeAlias = Any
"""Of a document, as it was read: a write on the condition of it fails once anybody has written."""


SECRET_KEPT: Final = timedelta(minutes=1)
"""How long a process may sign with a secret without looking again."""


class AlreadyRecordedError(Exception):
    """One of the documents to create exists; none was written."""


class ChangedMeanwhileError(Exception):
    """The record is no longer as it was read, or is gone; nothing was written."""


class SettingsChangedError(Exception):
    """The settings are no longer as they were read; nothing was written."""


class SendError(Exception):
    """No HTTP status came back; the message says why, for the delivery's log.

    `detail` says more where that is for the service's own log alone.
    """

    def __init__(self, reason: str, detail: str | None = None) -> None:
        super().__init__(reason)
        self.detail = detail


@dataclass(frozen=True, slots=True)
class StoredDelivery:
    """A delivery as it was read, with the version that a save of it must still find."""

    delivery: Delivery
    version: Version


@dataclass(frozen=True, slots=True)
class StoredLogShare:
    """A share as it was read, with the version that a write of it must still find."""

    share: LogShare
    version: Version


@dataclass(frozen=True, slots=True)
class StoredSecret:
    """A record of a secret as it was read, None where no secret is in it, and its version."""

    secret: WebhookSecret | None
    version: Version


@dataclass(frozen=True, slots=True)
class StoredWatch:
    """What is watched of an event, as it was read, with the version that a save must still find."""

    watch: Watch
    version: Version


@dataclass(frozen=True, slots=True)
class StoredSettings:
    """Fields of `events/{eventId}/settings/webhooks`, and when they were last written."""

    fields: Mapping[str, Any]
    written_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class DisabledUrl:
    """An entry of `disabled` in the settings: `reason` is for people."""

    url: str
    reason: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Response:
    """What the receiver answered: the HTTP status, and nothing else of it decides anything.

    `excerpt` is how the body began of an answer that acknowledges nothing, for people.
    """

    status: int
    excerpt: str | None = None

    @property
    def acknowledges(self) -> bool:
        """Whether it is 2xx (spec 4.3)."""
        return 200 <= self.status <= 299  # noqa: PLR2004 - it is 2xx


class Wall(Protocol):
    """Reads of an event and its photos."""

    def webhook_settings(self, event_id: str) -> StoredSettings | None:
        """The document `settings/webhooks`; None where there is none."""

    def event(self, event_id: str) -> Mapping[str, Any] | None:
        """Fields of the event; None where there is none."""

    def count_photos(
        self, event_id: str, at_most: int | None = None, until: datetime | None = None
    ) -> int:
        """How many photos the event has, whatever their status; counts to `at_most`.

        Where a time is given, only photos whose `createdAt` is no later than `until`.
        """

    def first_photo_by(self, event_id: str, photo: Photo) -> Photo | None:
        """The oldest photo with the `uploaderEmail` of `photo`, or its `uploaderUid`.

        By `uploaderUid` where `photo` has no address; None where no photo is found.
        """

    def milestones(self, event_id: str, numbers: Iterable[int]) -> Mapping[int, str | None]:
        """Which of the milestones `numbers` are recorded, each with the photo that reached it."""


class Deliveries(Protocol):
    """The records of deliveries."""

    def create(
        self, event_id: str, deliveries: Iterable[Delivery], milestones: Iterable[Milestone] = ()
    ) -> None:
        """Record all of them in one commit, or none.

        Raises:
            AlreadyRecordedError: one of them is on record.
        """

    def find(self, event_id: str, delivery_ids: Iterable[str]) -> Mapping[str, Delivery]:
        """Those of the deliveries that are on record, by id."""

    def load(self, event_id: str, delivery_id: str) -> StoredDelivery | None:
        """The delivery as it is now; None where there is none (any more)."""

    def save(self, delivery: Delivery, version: Version) -> None:
        """Write what an attempt has changed.

        Raises:
            ChangedMeanwhileError: the record is not in `version` any more.
        """

    def restart(self, delivery: Delivery, version: Version) -> None:
        """Write the beginning of another round; it stays on record as long as a new delivery.

        Raises:
            ChangedMeanwhileError: the record is not in `version` any more.
        """

    def ended(
        self, event_id: str, wanted: EndedWithin, after: Cursor | None, limit: int
    ) -> Sequence[StoredDelivery]:
        """Those that are `wanted`, the one that ended first at the top, one page."""

    def count_ended(self, event_id: str, wanted: EndedWithin) -> int:
        """How many are `wanted`; none of them is read."""

    def newest(
        self, event_id: str, wanted: SentTo, after: Place | None, limit: int
    ) -> Iterator[Delivery]:
        """Those that are `wanted`, the one made last at the top; whoever stops reads no more."""

    def last_success(self, event_id: str, url: str) -> datetime | None:
        """When a delivery to `url` was last acknowledged; None where none is on record."""

    def has_failed_within(self, event_id: str, url: str, after: datetime, until: datetime) -> bool:
        """Whether a delivery to `url` ended failed `after` the one moment and by the other."""

    def count_failed(self, event_id: str, url: str, after: datetime, at_most: int) -> int:
        """How many deliveries to `url` ended failed `after` that moment; counts to `at_most`."""

    def last_ended(
        self, event_id: str, url: str, outcomes: Iterable[Outcome], limit: int
    ) -> Sequence[Ended]:
        """The latest deliveries to `url` that have ended so, the last one first."""

    def first_failure(self, event_id: str, url: str, after: datetime | None) -> datetime | None:
        """When the first delivery to `url` ended failed, `after` that moment; None where none."""

    def overdue(self, before: datetime) -> Iterator[Delivery]:
        """Every delivery of every event whose next attempt was due `before` that moment.

        Read by the page, a round trip each.
        """


class LogShares(Protocol):
    """The records of what lets others see the deliveries to a URL."""

    def create(self, share: LogShare) -> None:
        """Record it, under an id that no other one has; also where it is on record already."""

    def load(self, event_id: str, share_id: str) -> StoredLogShare | None:
        """The share as it is now.

        None where there is none, and where its event is gone, or another one of the same id.
        """

    def revoke(self, found: StoredLogShare, at: datetime) -> None:
        """End it `at` that moment.

        Raises:
            ChangedMeanwhileError: the record is not as it was found.
        """

    def count_living(self, event_id: str, now: datetime, at_most: int) -> int:
        """How many shares of the event have not ended; counts to `at_most`."""


class Settings(Protocol):
    """The webhook settings, as far as the service writes them."""

    def load(self, event_id: str) -> StoredSettings | None:
        """The settings as they are now; None where there are none."""

    def disable(
        self, event_id: str, given_up: Iterable[DisabledUrl], found: StoredSettings
    ) -> None:
        """Disable URLs, unless anything has been written since the settings were `found`.

        Raises:
            SettingsChangedError: something has.
        """


class Notices(Protocol):
    """What is watched of each event, and what its people have been told."""

    def load(self, event_id: str) -> StoredWatch | None:
        """The watch as it is now; None where there is none."""

    def create(self, event_id: str, watch: Watch) -> None:
        """Record the first one of an event.

        Raises:
            AlreadyRecordedError: there is one.
        """

    def save(self, event_id: str, watch: Watch, version: Version) -> None:
        """Write it.

        Raises:
            ChangedMeanwhileError: the record is not in `version` any more.
        """

    def due(self, before: datetime, limit: int) -> Sequence[str]:
        """Events that were to be looked at `before` that moment, the first one first."""


class Mailer(Protocol):
    """Sends mail."""

    def send(self, message: Message) -> MailOutcome:
        """Make one request, once, and say what became of it."""


class Secrets(Protocol):
    """The webhook secret of each event."""

    def of(self, event_id: str) -> str:
        """What the event's deliveries are signed with now, made if it has none (design 3).

        An announced secret that is due stands alone on record before anything is signed with it.
        """

    def make(self, event_id: str) -> None:
        """Make the event's secret, unless it is on record already."""

    def rotate(self, event_id: str) -> None:
        """Give the event a new secret at once, which ends one that is announced.

        Other processes may sign with the old one for a minute.
        """

    def announce(self, event_id: str, active_from: datetime) -> None:
        """Have a new secret take over at that time, in the place of one that is announced."""


class SecretRecords(Protocol):
    """The records of the secrets, one an event."""

    def load(self, event_id: str) -> StoredSecret | None:
        """The record as it is now; None where there is none."""

    def replace(self, event_id: str, found: StoredSecret | None, secret: WebhookSecret) -> None:
        """Write `secret` in the place of what was `found`.

        Raises:
            ChangedMeanwhileError: the record is not as it was found.
        """

    def put(self, event_id: str, secret: WebhookSecret) -> None:
        """Write `secret`, whatever there is."""


class Sender(Protocol):
    """Posts to receivers."""

    def post(
        self, to: EndpointUrl, headers: Mapping[str, str], body: bytes, event_id: str
    ) -> Response:
        """POST `body` of the event once and wait for the head of the answer.

        Five seconds at most.

        Raises:
            NoTurnError: it has to come later.
            SendError: no HTTP status came back in time, or nothing may be sent there.
        """


class Attempts(Protocol):
    """Makes attempts."""

    def attempt(self, request: AttemptRequest) -> Delivery | None:
        """Make the attempt that is asked for, unless it has been made; see `Worker.attempt`."""


class TaskQueue(Protocol):
    """Where tasks go."""

    def enqueue(self, task: Task) -> None:
        """Queue `task`; one of that name that was queued before, also long ago, is a success.

        Raises:
            Exception: it could not be queued, whatever the service says.
        """
