"""The stores of the recap read their own records and never overwrite those of another call."""

import threading
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from functions.call.caller import Caller, Role
from functions.firestore.model import ChangedMeanwhileError
from functions.ports import Clock
from functions.recap.ledger.batch import BatchState, plan
from functions.recap.ledger.claim import Claim
from functions.recap.ledger.recap_store import LEASE, RecapStore
from functions.recap.recap_arguments import RecapArguments
from tests.in_memory.adapters import InMemoryRandom
from tests.in_memory.documents import InMemoryDocuments
from tests.unit.recap.recap_fixture import EVENT, TENANT

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)


@pytest.fixture
def recaps() -> RecapStore:
    """Return a store without records."""
    return RecapStore(InMemoryDocuments())


def _take(recaps: RecapStore, now: datetime = NOW) -> Claim:
    return Claim.acquire(
        recaps,
        Caller("u", Role.ADMIN, TENANT),
        RecapArguments(event_id=EVENT),
        TENANT,
        clock=Clock(lambda: now, lambda: 0.0, lambda _: None),
        random=InMemoryRandom(),
        mutex=threading.Lock(),
    )


def _recap(claim: Claim) -> Mapping[str, Any]:
    found = claim.recaps.documents.get(claim.key.path)
    assert found
    return found.fields


def test_what_is_written_is_read_again(recaps: RecapStore) -> None:
    """Include every field of a batch and of the lock, and the recap's counts."""
    claim = _take(recaps)
    claim.plan(plan([["a", "b", "c"]], per_batch=2), skipped=1, left=1)
    planned = list(claim.ledger.values())
    assert [batch.recipients for batch in planned] == [("a", "b"), ("c",)]
    assert recaps.batches(claim.key) == planned
    started = claim.start(replace(planned[0], opted_out=3)).without_rejected([0])
    held = recaps.lock(EVENT)
    assert held
    assert (held, held.version) == (claim.lock, claim.lock.version)
    settled = claim.settle(started, BatchState.UNKNOWN, "no answer")
    assert (settled.recipients, settled.rejected, settled.note) == (("b",), ("a",), "no answer")
    assert recaps.batch(claim.key, 0) == settled
    assert recaps.batch(claim.key, 2) is None
    recap = _recap(claim)
    counts = {name: recap[name] for name in ("sent", "unknown", "skipped", "left", "recipients")}
    assert counts == {"sent": 1, "unknown": 1, "skipped": 5, "left": 2, "recipients": 3}
    assert recaps.sent_at(EVENT) == {"a": NOW, "b": NOW}


def test_a_plan_is_replaced_as_it_was_read_or_not_at_all(recaps: RecapStore) -> None:
    """A batch that another call has started meanwhile stays."""
    claim = _take(recaps)
    claim.plan(plan([["a"]], per_batch=2), skipped=0, left=0)
    planned = dict(claim.ledger)
    started = claim.start(planned[0])
    newer = plan([["a"]], per_batch=2, first=1)
    for known, batches in ((planned, newer), ({}, plan([["b"]], per_batch=2))):
        with pytest.raises(ChangedMeanwhileError):
            replace(claim, ledger=known).plan(batches, skipped=0, left=0)
        assert recaps.batches(claim.key) == [started]
    claim.plan(newer, skipped=0, left=0)
    assert recaps.batches(claim.key) == list(claim.ledger.values()) == newer


def test_a_call_without_the_lock_writes_nothing(recaps: RecapStore) -> None:
    """A call that has lost the lock cannot plan, start, send again or release."""
    claim = _take(recaps)
    claim.plan(plan([["a"], ["b"]], per_batch=1), skipped=0, left=0)
    unknown, planned = recaps.batches(claim.key)
    unknown = claim.settle(claim.start(unknown), BatchState.UNKNOWN, "no answer")
    _take(recaps, NOW + LEASE)
    with pytest.raises(ChangedMeanwhileError):
        claim.plan([], skipped=0, left=0)
    with pytest.raises(ChangedMeanwhileError):
        claim.start(planned)
    with pytest.raises(ChangedMeanwhileError):
        claim.resend(())
    assert claim.release(failed=True) is None
    assert recaps.batches(claim.key) == [unknown, planned]
    assert _recap(claim)["state"] == "sending"
