"""The ports of the recap; `wiring` names the classes behind them.

The docstrings here bind every adapter, including those of the tests.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple, Protocol

from functions.documents.document import Version
from functions.recap.arguments import Mode
from functions.recap.complaints import Complaints, Stop
from functions.recap.ledger import Batch, Counts, Lock, RecapState
from functions.recap.photos import ApprovedPhoto


class RecapKey(NamedTuple):
    """The identity of a recap."""

    event_id: str
    recap_id: str

    @property
    def path(self) -> str:
        """Path of the recap's record."""
        return f"events/{self.event_id}/recaps/{self.recap_id}"


@dataclass(frozen=True, slots=True)
class StoredLock:
    """A lock, with the version of its document that a write must still find."""

    lock: Lock
    version: Version


@dataclass(frozen=True, slots=True, kw_only=True)
class RecapHead:
    """The fields of a recap that a call writes when it takes the lock.

    Attributes:
        tenant_id: Of the event; empty where the event has none.
        mode: Of the call, which may differ from that of the one before.
        started_by: The caller's uid.
        wording: The organizer's texts.
        began: Start of the recap; None where the call continues one.
    """

    tenant_id: str
    mode: Mode
    started_by: str
    wording: "Wording"
    began: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Taking:
    """The records that a call writes when it takes the lock.

    Attributes:
        lock: The new lock.
        head: Fields of the recap `lock.recap_id`, whose state becomes `sending`.
        ended: Id of an older recap that becomes `interrupted` for good, if any.
    """

    lock: Lock
    head: RecapHead
    ended: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """An organizer's texts for a recap, kept to show later which texts the guests got.

    `subject` and `message` are None where the mail has the templated texts; `sender` is the
    organizer's address, None for an account without an address.
    """

    sender: str | None = None
    subject: str | None = None
    message: str | None = None


class Recaps(Protocol):
    """The locks, the recaps and their ledgers. Every write is one atomic commit."""

    def event(self, event_id: str) -> Mapping[str, Any] | None:
        """Fields of the event; None where it does not exist."""

    def lock(self, event_id: str) -> StoredLock | None:
        """The event's lock; None before the first recap."""

    def take(self, event_id: str, decide: Callable[[Lock | None], Taking]) -> StoredLock:
        """Take the event's lock in one transaction: read the lock, let `decide` judge, write.

        Args:
            event_id: The event.
            decide: Gets the current lock and returns the records to write, or raises to refuse.
                It is called again where the lock was written meanwhile, also by this very call
                where the answer to its commit was lost.

        Returns:
            The lock as written.

        Raises:
            ChangedMeanwhileError: other calls kept writing the lock.
        """

    def batches(self, key: RecapKey) -> list[Batch]:
        """The batches of the ledger, in order."""

    def batch(self, key: RecapKey, number: int) -> Batch | None:
        """One batch of the ledger; None where it does not exist."""

    def plan(
        self,
        key: RecapKey,
        older: Iterable[Batch],
        batches: Sequence[Batch],
        counts: Counts,
        held: StoredLock,
    ) -> tuple[list[Batch], Version]:
        """Replace the `older` batches by `batches`, and set the recap's counts.

        The lock `held` is written in the same commit, so that a call without the lock cannot plan.

        Returns:
            The batches and the lock's version, as written.

        Raises:
            ChangedMeanwhileError: the lock or an older batch changed, or a new batch exists.
        """

    def start(
        self, key: RecapKey, batch: Batch, change: Counts, held: StoredLock
    ) -> tuple[Batch, Version]:
        """Record that `batch` is about to be sent; adds `change` to the recap's counts.

        The lock `held` is written in the same commit, so that a call without the lock cannot start.

        Returns:
            The batch and the lock's version, as written.

        Raises:
            ChangedMeanwhileError: the batch or the lock was written meanwhile.
        """

    def settle(self, key: RecapKey, batch: Batch, change: Counts) -> Batch:
        """Record the result of a started batch; adds `change` to the recap's counts.

        Raises:
            ChangedMeanwhileError: the batch was written meanwhile.
        """

    def release(self, key: RecapKey, held: StoredLock, state: RecapState, at: datetime) -> None:
        """Release the lock, and record the recap's state.

        Raises:
            ChangedMeanwhileError: the lock was written meanwhile.
        """

    def sent_at(self, event_id: str) -> Mapping[str, datetime]:
        """When each guest, by id, was last in a started batch, even if the address was refused.

        Reads every batch of the event's recaps.
        """


class Guests(Protocol):
    """The approved photos and the user records of guests, read in pages."""

    def approved_photos(self, event_id: str) -> Iterator[ApprovedPhoto]:
        """All approved photos of the event, as an iterator."""

    def records(self, uids: Iterable[str]) -> Iterable[tuple[str, Mapping[str, Any]]]:
        """The existing records `users/{uid}`, with their ids."""

    def records_with(self, emails: Iterable[str]) -> Iterable[tuple[str, Mapping[str, Any]]]:
        """All user records whose `email` equals an entry of `emails` exactly, with their ids."""


@dataclass(frozen=True, slots=True)
class Mailed:
    """The record of a tenant's recap mails (see `mailings`).

    `version` is None before the tenant's first record.
    """

    entries: bytes
    version: Version | None


class Mailings(Protocol):
    """The recap mails of the last 24 hours: one record per tenant."""

    def load(self, tenant_id: str) -> Mailed:
        """The record of the tenant."""

    def save(self, tenant_id: str, mailed: Mailed, expire_at: datetime) -> None:
        """Write the record, which may be deleted after `expire_at`.

        Raises:
            ChangedMeanwhileError: the record was written meanwhile.
        """


@dataclass(frozen=True, slots=True)
class StoredStop:
    """A stop, with the version of its record."""

    stop: Stop
    version: Version


class ComplaintRecords(Protocol):
    """The complaints about tenants' recaps, and the tenants that are stopped for them."""

    def begun(self, key: RecapKey) -> tuple[str, datetime] | None:
        """The tenant and the start of a recap; None where they are not recorded."""

    def count(self, tenant_id: str, since: datetime, until: datetime) -> Complaints:
        """The sum over the tenant's recaps that began at `since` or later, and before `until`."""

    def find(self, tenant_id: str) -> StoredStop | None:
        """The tenant's stop, pardoned or not, if any."""

    def put(self, tenant_id: str, stop: Stop, version: Version | None) -> None:
        """Replace the stop in `version`; None: create the tenant's first stop.

        Raises:
            ChangedMeanwhileError: the tenant's stop has another version.
        """
