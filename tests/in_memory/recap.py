"""The ports of the recap in memory, with the contracts of the real adapters.

Each round trip of the real adapter is one `through`, so that a schedule can have others in between,
repeat a write whose answer was lost, or end the instance.
"""

import contextlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any, Final

from functions.documents.document import Version
from functions.documents.refusals import ChangedMeanwhileError
from functions.mail.message import EmailMessage
from functions.mail.outcome import Accepted, SendOutcome, Unknown
from functions.mail.sendgrid import BYTES_PER_RECIPIENT, KEY_NAME, refusal
from functions.mail.tracking import DeliveryStatus, Tally
from functions.preferences.preferences import FIELD, Flag
from functions.preferences.reach import FIELD as REACH_FIELD
from functions.recap.complaints import Complaints, Stop, stop_path
from functions.recap.ledger import Batch, BatchState, Counts, Lock, RecapState
from functions.recap.mail_events.ports import StoredStatuses
from functions.recap.photos import ApprovedPhoto
from functions.recap.ports import (
    Mailed,
    RecapKey,
    StoredLock,
    StoredStop,
    Taking,
)
from tests.in_memory.database import (
    AlreadyExistsError,
    ChangedError,
    Create,
    Database,
    Delete,
    Set,
    Stored,
    Update,
    Write,
)
from tests.in_memory.through import ServiceError, Through, at_once

TRANSACTIONS_AT_MOST: Final = 5
"""Tries of the library before it gives up."""

_NO_RESET_IS_TOLD: Final = datetime.fromtimestamp(0, UTC)


class InMemoryRecaps:
    """See `ports.Recaps`; locks and batches are the nouns themselves, recaps are fields."""

    def __init__(self, database: Database, through: Through = at_once) -> None:
        self._database = database
        self._through = through

    def event(self, event_id: str) -> Mapping[str, Any] | None:
        """See `ports.Recaps`."""

        def get() -> Mapping[str, Any] | None:
            found = self._database.get(f"events/{event_id}")
            return found.value if found else None

        return self._through("recaps.event", get)

    def lock(self, event_id: str) -> StoredLock | None:
        """See `ports.Recaps`."""

        def get() -> StoredLock | None:
            found = self._database.get(lock_path(event_id))
            return StoredLock(found.value, found.version) if found else None

        return self._through("recaps.lock", get)

    def take(self, event_id: str, decide: Callable[[Lock | None], Taking]) -> StoredLock:
        """See `ports.Recaps`; an aborted transaction is made again, as the library does."""
        for _ in range(TRANSACTIONS_AT_MOST):
            found = self.lock(event_id)
            taking = decide(found.lock if found else None)
            with contextlib.suppress(ChangedMeanwhileError):
                version = self._take(event_id, taking, found)
                return StoredLock(taking.lock, version)
        raise ChangedMeanwhileError

    def _take(self, event_id: str, taking: Taking, over: StoredLock | None) -> Version:
        lock, head = taking.lock, taking.head
        path = recap_path(RecapKey(event_id, lock.recap_id))
        fields = {
            "tenantId": head.tenant_id,
            "mode": head.mode,
            "startedBy": head.started_by,
            "startedByEmail": head.wording.sender,
            "subject": head.wording.subject,
            "message": head.wording.message,
            "state": RecapState.SENDING,
        }
        writes: list[Write] = [
            _lock_write(event_id, StoredLock(lock, over.version))
            if over
            else Create(lock_path(event_id), lock)
        ]
        if head.began:
            counts = asdict(Counts()) | asdict(Tally())
            writes.append(Set(path, {**fields, "startedAt": head.began, **counts}))
        else:
            writes.append(Update(path, lambda recap: {**recap, **fields}))
        if taking.ended:
            state = {"state": RecapState.INTERRUPTED}
            path = recap_path(RecapKey(event_id, taking.ended))
            writes.append(Update(path, lambda recap: {**recap, **state}))
        return self._commit("recaps.take", *writes)

    def batches(self, key: RecapKey) -> list[Batch]:
        """See `ports.Recaps`."""

        def read() -> list[Batch]:
            found = self._database.collection(f"{recap_path(key)}/batches")
            return sorted((_batch(one) for _, one in found), key=lambda one: one.number)

        return self._through("recaps.batches", read)

    def batch(self, key: RecapKey, number: int) -> Batch | None:
        """See `ports.Recaps`."""

        def get() -> Batch | None:
            found = self._database.get(batch_path(key, number))
            return _batch(found) if found else None

        return self._through("recaps.batch", get)

    def plan(
        self,
        key: RecapKey,
        older: Iterable[Batch],
        batches: Sequence[Batch],
        counts: Counts,
        held: StoredLock,
    ) -> tuple[list[Batch], Version]:
        """See `ports.Recaps`."""
        fields = {"recipients": sum(len(batch.recipients) for batch in batches), **asdict(counts)}
        writes: list[Write] = [_lock_write(key.event_id, held)]
        writes += [Create(batch_path(key, batch.number), batch) for batch in batches]
        writes += [Delete(batch_path(key, batch.number), batch.version) for batch in older]
        writes.append(Update(recap_path(key), lambda recap: {**recap, **fields}))
        version = self._commit("recaps.plan", *writes)
        return [replace(batch, version=version) for batch in batches], version

    def start(
        self, key: RecapKey, batch: Batch, change: Counts, held: StoredLock
    ) -> tuple[Batch, Version]:
        """See `ports.Recaps`."""
        lock = _lock_write(key.event_id, held)
        version = self._commit("recaps.start", lock, *_batch_writes(key, batch, change))
        return replace(batch, version=version), version

    def settle(self, key: RecapKey, batch: Batch, change: Counts) -> Batch:
        """See `ports.Recaps`."""
        version = self._commit("recaps.settle", *_batch_writes(key, batch, change))
        return replace(batch, version=version)

    def release(self, key: RecapKey, held: StoredLock, state: RecapState, at: datetime) -> None:
        """See `ports.Recaps`."""
        fields = {"state": state, "finishedAt": at}
        self._commit(
            "recaps.release",
            _lock_write(key.event_id, held),
            Update(recap_path(key), lambda recap: {**recap, **fields}),
        )

    def sent_at(self, event_id: str) -> Mapping[str, datetime]:
        """See `ports.Recaps`."""

        def read() -> Mapping[str, datetime]:
            latest: dict[str, datetime] = {}
            for path, stored in self._database.group("batches"):
                batch = stored.value
                if not path.startswith(f"events/{event_id}/") or batch.started_at is None:
                    continue
                if batch.state is not BatchState.PLANNED:
                    for guest in batch.recipients + batch.refused:
                        latest[guest] = max(batch.started_at, latest.get(guest, batch.started_at))
            return latest

        return self._through("recaps.sent_at", read)

    def _commit(self, what: str, *writes: Write) -> Version:
        try:
            return self._through(what, partial(self._database.commit, *writes))
        except (AlreadyExistsError, ChangedError) as changed:
            raise ChangedMeanwhileError from changed


def lock_path(event_id: str) -> str:
    """Of the event's lock."""
    return f"events/{event_id}/locks/recap"


def recap_path(key: RecapKey) -> str:
    """Of a recap."""
    return f"events/{key.event_id}/recaps/{key.recap_id}"


def batch_path(key: RecapKey, number: int) -> str:
    """Of one of its batches."""
    return f"{recap_path(key)}/batches/{number}"


def _lock_write(event_id: str, held: StoredLock) -> Update:
    return Update(lock_path(event_id), lambda _: held.lock, held.version)


def _batch_writes(key: RecapKey, batch: Batch, change: Counts) -> list[Write]:
    writes: list[Write] = [Update(batch_path(key, batch.number), lambda _: batch, batch.version)]
    if change != Counts():
        added = asdict(change)
        writes.append(
            Update(
                recap_path(key),
                lambda recap: {**recap, **{name: recap[name] + added[name] for name in added}},
            )
        )
    return writes


def _batch(stored: Stored) -> Batch:
    batch: Batch = stored.value
    return replace(batch, version=stored.version)


class InMemoryGuests:
    """See `ports.Guests`; documents are the fields of the real ones."""

    def __init__(self, database: Database, through: Through = at_once) -> None:
        self._database = database
        self._through = through

    def approved_photos(self, event_id: str) -> Iterator[ApprovedPhoto]:
        """See `ports.Guests`."""

        def read() -> list[ApprovedPhoto]:
            return [
                ApprovedPhoto.read(photo_id, one.value, created=one.created)
                for photo_id, one in self._database.collection(f"events/{event_id}/photos")
                if one.value.get("status") == "approved"
            ]

        yield from self._through("guests.approved_photos", read)

    def records(self, uids: Iterable[str]) -> Iterable[tuple[str, Mapping[str, Any]]]:
        """See `ports.Guests`."""
        wanted = list(uids)

        def read() -> list[tuple[str, Mapping[str, Any]]]:
            found = [(uid, self._database.get(f"users/{uid}")) for uid in wanted]
            return [(uid, one.value) for uid, one in found if one]

        return self._through("guests.records", read)

    def records_with(self, emails: Iterable[str]) -> Iterable[tuple[str, Mapping[str, Any]]]:
        """See `ports.Guests`."""
        wanted = set(emails)

        def read() -> list[tuple[str, Mapping[str, Any]]]:
            users = self._database.collection("users")
            return [(uid, one.value) for uid, one in users if one.value.get("email") in wanted]

        return self._through("guests.records_with", read)


class InMemoryMailings:
    """See `ports.Mailings`; documents are the entries."""

    def __init__(self, database: Database, through: Through = at_once) -> None:
        self._database = database
        self._through = through

    def load(self, tenant_id: str) -> Mailed:
        """See `ports.Mailings`."""

        def get() -> Mailed:
            found = self._database.get(self._path(tenant_id))
            return Mailed(found.value, found.version) if found else Mailed(b"", None)

        return self._through("mailings.load", get)

    def save(self, tenant_id: str, mailed: Mailed, expire_at: datetime) -> None:
        """See `ports.Mailings`."""
        del expire_at
        path = self._path(tenant_id)
        write: Write = (
            Create(path, mailed.entries)
            if mailed.version is None
            else Update(path, lambda _: mailed.entries, mailed.version)
        )
        try:
            self._through("mailings.save", partial(self._database.commit, write))
        except (AlreadyExistsError, ChangedError) as changed:
            raise ChangedMeanwhileError from changed

    def _path(self, tenant_id: str) -> str:
        return f"recapMails/{tenant_id}"


class InMemoryComplaints:
    """See `ports.ComplaintRecords`; a document of a tenant is the stop itself."""

    def __init__(self, database: Database, through: Through = at_once) -> None:
        self._database = database
        self._through = through

    def begun(self, key: RecapKey) -> tuple[str, datetime] | None:
        """See `ports.ComplaintRecords`."""

        def get() -> tuple[str, datetime] | None:
            found = self._database.get(recap_path(key))
            return (found.value["tenantId"], found.value["startedAt"]) if found else None

        return self._through("complaints.begun", get)

    def count(self, tenant_id: str, since: datetime, until: datetime) -> Complaints:
        """See `ports.ComplaintRecords`."""

        def read() -> Complaints:
            recaps = [
                one.value
                for _, one in self._database.group("recaps")
                if one.value["tenantId"] == tenant_id and since <= one.value["startedAt"] < until
            ]
            return Complaints(
                sum(recap["complained"] for recap in recaps), sum(recap["sent"] for recap in recaps)
            )

        return self._through("complaints.count", read)

    def find(self, tenant_id: str) -> StoredStop | None:
        """See `ports.ComplaintRecords`."""

        def get() -> StoredStop | None:
            found = self._database.get(stop_path(tenant_id))
            return StoredStop(found.value, found.version) if found else None

        return self._through("complaints.find", get)

    def put(self, tenant_id: str, stop: Stop, version: Version | None) -> None:
        """See `ports.ComplaintRecords`."""
        path = stop_path(tenant_id)
        write: Write = Update(path, lambda _: stop, version) if version else Create(path, stop)
        try:
            self._through("complaints.put", partial(self._database.commit, write))
        except (AlreadyExistsError, ChangedError) as changed:
            raise ChangedMeanwhileError from changed


class InMemoryStatuses:
    """See `mail_events.ports.DeliveryStatuses`; a document is what is known, by guest."""

    def __init__(self, database: Database, through: Through = at_once) -> None:
        self._database = database
        self._through = through

    def load(self, key: RecapKey, batches: Collection[int]) -> StoredStatuses:
        """See `mail_events.ports.DeliveryStatuses`."""

        def get() -> StoredStatuses:
            ledger = {one: self._database.get(batch_path(key, one)) for one in batches}
            found = self._database.get(statuses_path(key))
            return StoredStatuses(
                {one: batch.value.recipients for one, batch in ledger.items() if batch},
                found.value if found else {},
                found.version if found else None,
            )

        return self._through("outcomes.load", get)

    def save(
        self,
        key: RecapKey,
        statuses: Mapping[str, DeliveryStatus],
        change: Tally,
        version: Version | None,
    ) -> None:
        """See `mail_events.ports.DeliveryStatuses`."""
        path, added = statuses_path(key), asdict(change)
        written: Write = (
            Create(path, statuses) if version is None else Update(path, lambda _: statuses, version)
        )
        recap = Update(
            recap_path(key),
            lambda recap: {**recap, **{name: recap[name] + added[name] for name in added}},
        )
        try:
            self._through("outcomes.save", partial(self._database.commit, written, recap))
        except (AlreadyExistsError, ChangedError) as changed:
            raise ChangedMeanwhileError from changed


def statuses_path(key: RecapKey) -> str:
    """Of what is known of a recap's mails."""
    return f"{recap_path(key)}/outcomes/mails"


class InMemoryUsers:
    """See `mail_events.ports.Users`; documents are the fields of the real ones."""

    def __init__(self, database: Database, through: Through = at_once) -> None:
        self._database = database
        self._through = through

    def find(self, uid: str) -> Mapping[str, Any] | None:
        """See `mail_events.ports.Users`."""

        def get() -> Mapping[str, Any] | None:
            found = self._database.get(f"users/{uid}")
            return found.value if found else None

        return self._through("users.find", get)

    def choose(self, uid: str, choices: Mapping[Flag, bool]) -> None:
        """See `mail_events.ports.Users`."""

        def write() -> None:
            record = self._record(uid)
            flags = {**record.get(FIELD, {}), **{one.value: on for one, on in choices.items()}}
            self._database.commit(Set(f"users/{uid}", {**record, FIELD: flags}))

        self._through("users.choose", write)

    def mark_unreachable(self, uid: str, until: datetime) -> None:
        """See `mail_events.ports.Users`."""

        def write() -> None:
            self._database.commit(Set(f"users/{uid}", {**self._record(uid), REACH_FIELD: until}))

        self._through("users.mark_unreachable", write)

    def _record(self, uid: str) -> Mapping[str, Any]:
        found = self._database.get(f"users/{uid}")
        record: Mapping[str, Any] = found.value if found else {}
        return record


class InMemoryMailer:
    """See `provider.BulkMailer`; answers are read as SendGrid's are."""

    key_name = KEY_NAME
    recipients_per_request = 2
    bytes_per_recipient = BYTES_PER_RECIPIENT

    def __init__(
        self,
        answer: Callable[[EmailMessage], tuple[int, Mapping[str, str], bytes]],
        through: Through = at_once,
    ) -> None:
        """`answer` gives status, headers and body, or raises where the connection breaks."""
        self._answer = answer
        self._through = through

    def send(self, message: EmailMessage) -> SendOutcome:
        """See `provider.Mailer`."""
        try:
            status, headers, body = self._through(
                "mailer.send", lambda: self._answer(message), retried=False
            )
        except ServiceError:
            return Unknown("no answer")
        if status == 202:
            return Accepted("made-up")
        return refusal(status, headers, body, now=_NO_RESET_IS_TOLD)
