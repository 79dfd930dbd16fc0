"""The in-memory ports of the recap keep the contracts of the real ones: the same cases for both."""

import threading
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import pytest

from functions.recap.arguments import Mode
from functions.recap.claim import Claim
from functions.recap.ledger import LEASE, BatchState, Counts, RecapState, plan, total
from functions.recap.ports import (
    Mailed,
    Mailings,
    RecapKey,
    Recaps,
    Said,
    StoredLock,
    TakenElsewhereError,
)
from functions.recap.store.mailing_store import MailingStore
from functions.recap.store.recap_store import RecapStore
from tests.in_memory.database import Database
from tests.in_memory.recap import InMemoryMailings, InMemoryRecaps, recap_path
from tests.suite.recap.wall import Wall

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Ports:
    """Adapters, and the fields of a recap as they are on record."""

    recaps: Recaps
    mailings: Mailings
    recap: Callable[[RecapKey], Mapping[str, Any]]


def _in_firestore(wall: Wall) -> Ports:
    def recap(_: RecapKey) -> Mapping[str, Any]:
        (found,) = wall.recaps()
        return found

    return Ports(RecapStore(wall.db), MailingStore(wall.db), recap)


def _in_memory(_: Wall) -> Ports:
    database = Database(lambda: NOW)

    def recap(key: RecapKey) -> Mapping[str, Any]:
        found = database.get(recap_path(key))
        assert found
        fields: Mapping[str, Any] = found.value
        return fields

    return Ports(InMemoryRecaps(database), InMemoryMailings(database), recap)


@pytest.fixture(params=[_in_firestore, _in_memory], ids=["firestore", "memory"])
def ports(request: pytest.FixtureRequest, wall: Wall) -> Ports:
    """Of either kind, with nothing on record."""
    made: Ports = request.param(wall)
    return made


def _take(ports: Ports, wall: Wall, now: datetime = NOW) -> Claim:
    return Claim.take(
        ports.recaps,
        wall.id,
        mode=Mode.ALL,
        started_by="u",
        said=Said(),
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
        key, [], plan(["a", "b", "c"], at_most=2), Counts(skipped=1, left=4), _held(ports, wall)
    )
    assert [one.recipients for one in planned] == [("a", "b"), ("c",)]
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
    older, _ = ports.recaps.plan(key, [], plan(["a"]), Counts(left=1), _held(ports, wall))
    started, _ = ports.recaps.start(
        key, older[0].started("other", NOW), Counts(), _held(ports, wall)
    )
    newer = plan(["a"], first=1)
    with pytest.raises(TakenElsewhereError):
        ports.recaps.plan(key, older, newer, total(newer), _held(ports, wall))
    with pytest.raises(TakenElsewhereError):
        ports.recaps.plan(key, [], plan(["b"]), Counts(), _held(ports, wall))
    assert ports.recaps.batches(key) == [started]
    replaced, _ = ports.recaps.plan(key, [started], newer, total(newer), _held(ports, wall))
    assert ports.recaps.batches(key) == replaced


def test_the_mails_of_a_tenant_are_written_as_they_were_read(ports: Ports) -> None:
    """Of two writers the second is refused, and reads again."""
    mailings, tenant = ports.mailings, f"a/b {uuid.uuid4().hex}"
    found = mailings.load(tenant)
    assert found == Mailed(b"", None)
    mailings.save(tenant, replace(found, entries=b"x" * 16), NOW)
    with pytest.raises(TakenElsewhereError):
        mailings.save(tenant, replace(found, entries=b"y" * 16), NOW)
    written = mailings.load(tenant)
    assert written.entries == b"x" * 16
    mailings.save(tenant, replace(written, entries=b"z" * 960_000), NOW)
    with pytest.raises(TakenElsewhereError):
        mailings.save(tenant, replace(written, entries=b""), NOW)
    assert mailings.load(tenant).entries[:1] == b"z"
    assert mailings.load("another").entries == b""


def test_whoever_has_lost_the_lock_writes_nothing_with_it(ports: Ports, wall: Wall) -> None:
    """No plan, no start, no release."""
    key = RecapKey(wall.id, _take(ports, wall).key.recap_id)
    (batch,), version = ports.recaps.plan(key, [], plan(["a"]), Counts(left=1), _held(ports, wall))
    mine = StoredLock(_held(ports, wall).lock, version)
    _take(ports, wall, NOW + LEASE)
    with pytest.raises(TakenElsewhereError):
        ports.recaps.plan(key, [batch], [], Counts(), mine)
    with pytest.raises(TakenElsewhereError):
        ports.recaps.start(key, batch.started("me", NOW), Counts(), mine)
    with pytest.raises(TakenElsewhereError):
        ports.recaps.release(key, mine, RecapState.FAILED, NOW)
    assert ports.recaps.batches(key) == [batch]
    assert ports.recap(key)["state"] == "sending"
