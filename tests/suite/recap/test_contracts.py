"""The in-memory ports of the recap keep the contracts of the real ones: the same cases for both."""

import threading
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from functions.documents.refusals import ChangedMeanwhileError
from functions.gcp.documents import documents
from functions.recap.arguments import Mode
from functions.recap.claim import Claim
from functions.recap.complaints import Complaints, Stop
from functions.recap.ledger import LEASE, BatchState, Counts, RecapState, plan, total
from functions.recap.ports import (
    ComplaintRecords,
    Mailed,
    Mailings,
    RecapKey,
    Recaps,
    StoredLock,
    Wording,
)
from functions.recap.store.complaint_store import ComplaintStore
from functions.recap.store.mailing_store import MailingStore
from functions.recap.store.recap_store import RecapStore
from tests.in_memory.database import Database
from tests.in_memory.recap import InMemoryComplaints, InMemoryMailings, InMemoryRecaps, recap_path
from tests.suite.recap.wall import TENANT, Wall

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Ports:
    """Adapters, and the fields of a recap as they are on record."""

    recaps: Recaps
    mailings: Mailings
    complaints: ComplaintRecords
    recap: Callable[[RecapKey], Mapping[str, Any]]


def _in_firestore(wall: Wall) -> Ports:
    def recap(_: RecapKey) -> Mapping[str, Any]:
        (found,) = wall.recaps()
        return found

    real = documents()
    return Ports(RecapStore(real), MailingStore(real), ComplaintStore(real), recap)


def _in_memory(_: Wall) -> Ports:
    database = Database(lambda: NOW)

    def recap(key: RecapKey) -> Mapping[str, Any]:
        found = database.get(recap_path(key))
        assert found
        fields: Mapping[str, Any] = found.value
        return fields

    return Ports(
        InMemoryRecaps(database), InMemoryMailings(database), InMemoryComplaints(database), recap
    )


@pytest.fixture(params=[_in_firestore, _in_memory], ids=["firestore", "memory"])
def ports(request: pytest.FixtureRequest, wall: Wall) -> Ports:
    """Of either kind, with nothing on record."""
    made: Ports = request.param(wall)
    return made


def _take(ports: Ports, wall: Wall, now: datetime = NOW, *, tenant_id: str = TENANT) -> Claim:
    return Claim.take(
        ports.recaps,
        wall.id,
        tenant_id=tenant_id,
        mode=Mode.ALL,
        started_by="u",
        wording=Wording(),
        now=lambda: now,
        new_id=lambda: uuid.uuid4().hex,
        one_at_a_time=threading.Lock(),
    )


def _held(ports: Ports, wall: Wall) -> StoredLock:
    held = ports.recaps.lock(wall.id)
    assert held
    return held


def test_what_is_written_is_read_again(ports: Ports, wall: Wall) -> None:
    """Every field of a batch and of the lock, and what the recap counts."""
    key = _take(ports, wall).key
    planned, version = ports.recaps.plan(
        key, [], plan(["a", "b", "c"], per_batch=2), Counts(skipped=1, left=4), _held(ports, wall)
    )
    assert [batch.recipients for batch in planned] == [("a", "b"), ("c",)]
    assert ports.recaps.batches(key) == planned
    held = _held(ports, wall)
    assert held.version == version
    started = planned[0].started("me", NOW)
    started, _ = ports.recaps.start(key, started, Counts(), held)
    settled = started.settled(
        BatchState.UNKNOWN, holder="me", recipients=["b"], refused=["a"], note="no answer"
    )
    settled = ports.recaps.settle(key, settled, settled.counts - started.counts)
    assert ports.recaps.batch(key, 0) == settled
    assert ports.recaps.batch(key, 2) is None
    recap = ports.recap(key)
    counts = {name: recap[name] for name in ("sent", "unknown", "skipped", "left", "recipients")}
    assert counts == {"sent": 1, "unknown": 1, "skipped": 2, "left": 2, "recipients": 3}
    assert ports.recaps.sent_at(wall.id) == {"a": NOW, "b": NOW}


def test_a_plan_is_replaced_as_it_was_read_or_not_at_all(ports: Ports, wall: Wall) -> None:
    """What another call has started meanwhile stays."""
    key = _take(ports, wall).key
    older, _ = ports.recaps.plan(
        key, [], plan(["a"], per_batch=2), Counts(left=1), _held(ports, wall)
    )
    started, _ = ports.recaps.start(
        key, older[0].started("other", NOW), Counts(), _held(ports, wall)
    )
    newer = plan(["a"], per_batch=2, first=1)
    with pytest.raises(ChangedMeanwhileError):
        ports.recaps.plan(key, older, newer, total(newer), _held(ports, wall))
    with pytest.raises(ChangedMeanwhileError):
        ports.recaps.plan(key, [], plan(["b"], per_batch=2), Counts(), _held(ports, wall))
    assert ports.recaps.batches(key) == [started]
    replaced, _ = ports.recaps.plan(key, [started], newer, total(newer), _held(ports, wall))
    assert ports.recaps.batches(key) == replaced


def test_the_mails_of_a_tenant_are_written_as_they_were_read(ports: Ports) -> None:
    """Of two writers the second is refused, and reads again."""
    mailings, tenant = ports.mailings, f"a/b {uuid.uuid4().hex}"
    found = mailings.load(tenant)
    assert found == Mailed(b"", None)
    mailings.save(tenant, replace(found, entries=b"x" * 16), NOW)
    with pytest.raises(ChangedMeanwhileError):
        mailings.save(tenant, replace(found, entries=b"y" * 16), NOW)
    written = mailings.load(tenant)
    assert written.entries == b"x" * 16
    mailings.save(tenant, replace(written, entries=b"z" * 960_000), NOW)
    with pytest.raises(ChangedMeanwhileError):
        mailings.save(tenant, replace(written, entries=b""), NOW)
    assert mailings.load(tenant).entries[:1] == b"z"
    assert mailings.load("another").entries == b""


def test_whoever_has_lost_the_lock_writes_nothing_with_it(ports: Ports, wall: Wall) -> None:
    """No plan, no start, no release."""
    key = RecapKey(wall.id, _take(ports, wall).key.recap_id)
    (batch,), version = ports.recaps.plan(
        key, [], plan(["a"], per_batch=2), Counts(left=1), _held(ports, wall)
    )
    mine = StoredLock(_held(ports, wall).lock, version)
    _take(ports, wall, NOW + LEASE)
    with pytest.raises(ChangedMeanwhileError):
        ports.recaps.plan(key, [batch], [], Counts(), mine)
    with pytest.raises(ChangedMeanwhileError):
        ports.recaps.start(key, batch.started("me", NOW), Counts(), mine)
    with pytest.raises(ChangedMeanwhileError):
        ports.recaps.release(key, mine, RecapState.FAILED, NOW)
    assert ports.recaps.batches(key) == [batch]
    assert ports.recap(key)["state"] == "sending"


def test_complaints_of_a_tenant_and_day(ports: Ports, wall: Wall) -> None:
    """A recap counts for its tenant, where it began within the time."""
    claim = _take(ports, wall, tenant_id=wall.id)
    assert ports.complaints.begun(claim.key) == (wall.id, NOW)
    assert ports.complaints.begun(RecapKey(wall.id, "none")) is None
    claim.plan(plan(["g1", "g2"], per_batch=2), Counts(left=2))
    [batch] = claim.ledger.values()
    claim.settle(claim.start(batch, ["g1", "g2"]), BatchState.ACCEPTED)
    later = NOW + timedelta(seconds=1)
    assert ports.complaints.count(wall.id, NOW, later) == Complaints(0, 2)
    assert ports.complaints.count(wall.id, later, later + timedelta(days=1)) == Complaints(0, 0)
    assert ports.complaints.count("another", NOW, later) == Complaints(0, 0)


def test_a_stop_is_written_over_the_version_that_was_read(ports: Ports, wall: Wall) -> None:
    """Of two looks at the same moment one goes on."""
    assert ports.complaints.find(wall.id) is None
    stop = Stop(since=NOW, day=NOW.date(), complaints=Complaints(5, 10))
    ports.complaints.put(wall.id, stop, None)
    found = ports.complaints.find(wall.id)
    assert found
    assert found.stop == stop
    with pytest.raises(ChangedMeanwhileError):
        ports.complaints.put(wall.id, stop, None)
    again = replace(stop, since=NOW + timedelta(days=1))
    ports.complaints.put(wall.id, again, found.version)
    with pytest.raises(ChangedMeanwhileError):
        ports.complaints.put(wall.id, stop, found.version)
    last = ports.complaints.find(wall.id)
    assert last
    assert last.stop == again
