"""What the recap needs of the world; `wiring` names who does it.

What is said of each holds for every adapter, the tests' too.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple, Protocol, TypeAlias

from functions.mail.message import Message
from functions.mail.outcome import Outcome
from functions.recap.arguments import Mode
from functions.recap.complaints import Complaints, Stop
from functions.recap.ledger import Batch, Counts, Lock, RecapState
from functions.recap.photos import ApprovedPhoto

Version: TypeAlias = Any
"""Of a document, as it was read: a write on the condition of it fails once anybody has written."""


class TakenElsewhereError(Exception):
    """A document is no longer as it was read, or is gone; nothing was written.

    Also where only the answer to the same write was lost: whoever cares looks again.
    """


class RecapKey(NamedTuple):
    """Which recap."""

    event_id: str
    recap_id: str


@dataclass(frozen=True, slots=True)
class StoredLock:
    """A lock as it is or is to be, with the version that a write of it must still find."""

    lock: Lock
    version: Version


@dataclass(frozen=True, slots=True, kw_only=True)
class RecapHead:
    """What a call writes of the recap that it takes.

    Attributes:
        tenant_id: Of the event; empty where the event has none.
        mode: Of the call, which may differ from that of the one before.
        started_by: The caller's uid.
        said: Whose words the mail has, and which.
        began: When the recap began; None where it is continued.
    """

    tenant_id: str
    mode: Mode
    started_by: str
    said: "Said"
    began: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Taking:
    """What a call writes that takes the lock.

    Attributes:
        lock: As it is to be.
        head: Of the recap `lock.recap_id`, whose state becomes `sending`.
        ended: Id of an older recap that becomes `interrupted` for good; None where there is none.
    """

    lock: Lock
    head: RecapHead
    ended: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What an organizer gave a recap: kept, so that others can tell later what guests were sent.

    `subject` and `message` are None where the mail has none but the usual words; `sender` is the
    organizer's address, None where the account has none.
    """

    sender: str | None = None
    subject: str | None = None
    message: str | None = None


class Recaps(Protocol):
    """The locks, the recaps and their ledgers. Every write is one commit: all of it, or nothing."""

    def event(self, event_id: str) -> Mapping[str, Any] | None:
        """Fields of the event; None where there is none."""

    def lock(self, event_id: str) -> StoredLock | None:
        """The event's lock; None where there has been no recap yet."""

    def take(self, event_id: str, decide: Callable[[Lock | None], Taking]) -> StoredLock:
        """Take the event's lock in one transaction: read it, have it judged, write.

        Args:
            event_id: Of the event.
            decide: Is given the lock, and called again with another one where somebody else has
                written it meanwhile, the caller itself included where an answer was lost. Answers
                what to write, or raises what keeps the caller from taking the lock.

        Returns:
            The lock as it stands now.

        Raises:
            TakenElsewhereError: others have written the lock all the time.
        """

    def batches(self, key: RecapKey) -> list[Batch]:
        """The ledger as it stands, in order."""

    def batch(self, key: RecapKey, number: int) -> Batch | None:
        """One batch of it as it stands; None where there is none (any more)."""

    def plan(
        self,
        key: RecapKey,
        older: Iterable[Batch],
        batches: Sequence[Batch],
        counts: Counts,
        held: StoredLock,
    ) -> tuple[list[Batch], Version]:
        """Write `batches` in place of the `older` ones, and set what the recap counts.

        The lock `held` is written with it, so that whoever has lost it plans nothing any more.

        Returns:
            The batches and the lock's version, as written.

        Raises:
            TakenElsewhereError: the lock is in another version, one of the older batches is not as
                it was read, or one of the new ones exists.
        """

    def start(
        self, key: RecapKey, batch: Batch, change: Counts, held: StoredLock
    ) -> tuple[Batch, Version]:
        """Record that a request of `batch` is about to leave; `change` is added to the recap's.

        The lock `held` is written with it, so that whoever has lost it starts nothing any more.

        Returns:
            The batch and the lock's version, as written.

        Raises:
            TakenElsewhereError: the batch is not as it was read, or the lock is in another version.
        """

    def settle(self, key: RecapKey, batch: Batch, change: Counts) -> Batch:
        """Record what became of a started batch; `change` is added to the recap's counts.

        Raises:
            TakenElsewhereError: the batch is not as it was read.
        """

    def release(self, key: RecapKey, held: StoredLock, state: RecapState, at: datetime) -> None:
        """Release the lock, and say how the recap stands.

        Raises:
            TakenElsewhereError: the lock is in another version.
        """

    def sent_at(self, event_id: str) -> Mapping[str, datetime]:
        """When each guest, by id, last had a turn, which the mail service may have refused.

        A read for each batch of the event's recaps.
        """


class Guests(Protocol):
    """Who stands on approved photos, and what mails they want. Read by the page."""

    def approved_photos(self, event_id: str) -> Iterator[ApprovedPhoto]:
        """Every approved photo of the event, one at a time."""

    def records(self, uids: Iterable[str]) -> Iterable[tuple[str, Mapping[str, Any]]]:
        """Those of `users/{uid}` that exist, with their ids."""

    def records_with(self, emails: Iterable[str]) -> Iterable[tuple[str, Mapping[str, Any]]]:
        """Every user record whose `email` is one of `emails`, letter by letter, with its id."""


@dataclass(frozen=True, slots=True)
class Mailed:
    """Whom a tenant has mailed lately (see `mailings`), as read or as to be written.

    `version` is None where the tenant has no record yet.
    """

    entries: bytes
    version: Version | None


class Mailings(Protocol):
    """Whom the tenants have mailed lately: one record a tenant."""

    def load(self, tenant_id: str) -> Mailed:
        """The record of the tenant."""

    def save(self, tenant_id: str, mailed: Mailed, expire_at: datetime) -> None:
        """Write the record, which nobody needs after `expire_at`.

        Raises:
            TakenElsewhereError: the record is not as it was read; nothing was written.
        """


@dataclass(frozen=True, slots=True)
class StoredStop:
    """A stop as it is on record, in this version."""

    stop: Stop
    version: Version


class ComplaintRecords(Protocol):
    """The complaints about tenants' recaps, and the tenants that are stopped for them."""

    def begun(self, key: RecapKey) -> tuple[str, datetime] | None:
        """The tenant of a recap and when the recap began; None where that is not on record."""

    def count(self, tenant_id: str, since: datetime, until: datetime) -> Complaints:
        """What the tenant's recaps count that began at `since` or later, and before `until`."""

    def find(self, tenant_id: str) -> StoredStop | None:
        """The tenant's stop, pardoned or not; None where there never was one."""

    def put(self, tenant_id: str, stop: Stop, version: Version | None) -> None:
        """Write a stop in place of the one in `version`; None: there must be none.

        Raises:
            TakenElsewhereError: the tenant's stop is in another version.
        """


class Mailer(Protocol):
    """A mail service."""

    @property
    def bytes_each(self) -> int:
        """How much may differ for one recipient, counted as JSON."""

    def send(self, message: Message) -> Outcome:
        """Make one request, once, and say what became of it."""
