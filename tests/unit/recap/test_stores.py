"""What the recap's stores write is what they read, and never over what another call wrote."""

import threading
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import pytest

from functions.call_rules import Caller, Role
from functions.firestore.model import ChangedMeanwhileError
from functions.outside import Clock
from functions.recap.ledger.batch import (
    LEASE,
    BatchState,
    Counts,
    Lock,
    RecapKey,
    RecapState,
    plan,
    total,
)
from functions.recap.ledger.claim import Claim
from functions.recap.ledger.recap_store import RecapStore
from functions.recap.recap_arguments import RecapArguments
from tests.in_memory.documents import InMemoryDocuments
from tests.unit.recap.parts import EVENT, TENANT

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Stores:
    """The stores, and what they write."""

    documents: InMemoryDocuments = field(default_factory=InMemoryDocuments)

    @property
    def recaps(self) -> RecapStore:
        """The locks and ledgers."""
        return RecapStore(self.documents)

    def recap(self, key: RecapKey) -> Mapping[str, Any]:
        """The fields of a recap."""
        found = self.documents.get(key.path)
        assert found
        return found.fields


@pytest.fixture
def stores() -> Stores:
    """Stores with nothing recorded."""
    return Stores()


def _take(stores: Stores, now: datetime = NOW) -> Claim:
    clock = Clock(lambda: now, lambda: 0.0, lambda _: None)
    before, lock = stores.recaps.take(
        Caller("u", Role.ADMIN, TENANT),
        RecapArguments(event_id=EVENT),
        TENANT,
        holder=uuid.uuid4().hex,
        new_id=lambda: uuid.uuid4().hex,
        clock=clock,
    )
    return Claim(stores.recaps, EVENT, before, lock, clock, threading.Lock())


def _held(stores: Stores) -> Lock:
    held = stores.recaps.lock(EVENT)
    assert held
    return held


def test_what_is_written_is_read_again(stores: Stores) -> None:
    """Every field of a batch and of the lock, and what the recap counts."""
    key = _take(stores).key
    planned, lock = stores.recaps.plan(
        key, [], plan([["a", "b", "c"]], per_batch=2), Counts(skipped=1, left=4), _held(stores)
    )
    assert [batch.recipients for batch in planned] == [("a", "b"), ("c",)]
    assert stores.recaps.batches(key) == planned
    held = _held(stores)
    assert (held, held.version) == (lock, lock.version)
    started, _ = stores.recaps.start(key, planned[0].started("me", NOW), Counts(), held)
    settled = started.without_refused([0]).settled(BatchState.UNKNOWN, "me", "no answer")
    assert (settled.recipients, settled.refused) == (("b",), ("a",))
    settled = stores.recaps.settle(key, settled, settled.counts - started.counts)
    assert stores.recaps.batch(key, 0) == settled
    assert stores.recaps.batch(key, 2) is None
    recap = stores.recap(key)
    counts = {name: recap[name] for name in ("sent", "unknown", "skipped", "left", "recipients")}
    assert counts == {"sent": 1, "unknown": 1, "skipped": 2, "left": 2, "recipients": 3}
    assert stores.recaps.sent_at(EVENT) == {"a": NOW, "b": NOW}


def test_a_plan_is_replaced_as_it_was_read_or_not_at_all(stores: Stores) -> None:
    """A batch that another call has started meanwhile stays."""
    key = _take(stores).key
    older, _ = stores.recaps.plan(
        key, [], plan([["a"]], per_batch=2), Counts(left=1), _held(stores)
    )
    started, _ = stores.recaps.start(key, older[0].started("other", NOW), Counts(), _held(stores))
    newer = plan([["a"]], per_batch=2, first=1)
    with pytest.raises(ChangedMeanwhileError):
        stores.recaps.plan(key, older, newer, total(newer), _held(stores))
    with pytest.raises(ChangedMeanwhileError):
        stores.recaps.plan(key, [], plan([["b"]], per_batch=2), Counts(), _held(stores))
    assert stores.recaps.batches(key) == [started]
    replaced, _ = stores.recaps.plan(key, [started], newer, total(newer), _held(stores))
    assert stores.recaps.batches(key) == replaced


def test_a_call_without_the_lock_writes_nothing(stores: Stores) -> None:
    """A call that has lost the lock cannot plan, start or release."""
    key = RecapKey(EVENT, _take(stores).key.recap_id)
    (batch,), own_lock = stores.recaps.plan(
        key, [], plan([["a"]], per_batch=2), Counts(left=1), _held(stores)
    )
    _take(stores, NOW + LEASE)
    with pytest.raises(ChangedMeanwhileError):
        stores.recaps.plan(key, [batch], [], Counts(), own_lock)
    with pytest.raises(ChangedMeanwhileError):
        stores.recaps.start(key, batch.started("me", NOW), Counts(), own_lock)
    with pytest.raises(ChangedMeanwhileError):
        stores.recaps.release(key, own_lock, RecapState.FAILED, NOW)
    assert stores.recaps.batches(key) == [batch]
    assert stores.recap(key)["state"] == "sending"
