"""The lock and the ledger in Firestore, under calls at the very same moment (spec 3.3)."""

import itertools
import threading
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import TypeVar

import pytest

from functions.call_error import CallError, Code
from functions.documents.refusals import ChangedMeanwhileError
from functions.gcp.documents import documents
from functions.recap.arguments import Mode
from functions.recap.ledger.batch import Batch, Counts, plan
from functions.recap.ledger.claim import Claim
from functions.recap.ledger.lock import LEASE, StoredLock, Wording
from functions.recap.ledger.recap_store import RecapStore
from tests.suite.recap.wall import TENANT, Wall

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
CALLS = 20
CALLS_OF_TAKE = 3
"""The local Firestore ends a deadlock of transactions after two seconds, of four or more never."""

_Result = TypeVar("_Result")


def _at_once(call: Callable[[], _Result], calls: int = CALLS) -> list[_Result | Exception]:
    """Make so many calls that none has begun before all can; their results or errors."""
    gate = threading.Barrier(calls)

    def one(_: int) -> _Result | Exception:
        gate.wait()
        try:
            return call()
        except (CallError, ChangedMeanwhileError) as refused:
            return refused

    with ThreadPoolExecutor(calls) as threads:
        return list(threads.map(one, range(calls)))


@pytest.fixture
def store() -> RecapStore:
    """The adapter itself."""
    return RecapStore(documents())


def _take(store: RecapStore, wall: Wall, now: datetime = NOW) -> Claim:
    return Claim.take(
        store,
        wall.id,
        tenant_id=TENANT,
        mode=Mode.ALL,
        started_by="u",
        wording=Wording(),
        now=lambda: now,
        new_id=lambda: uuid.uuid4().hex,
        one_at_a_time=threading.Lock(),
    )


@pytest.mark.parametrize("crashed_before", [False, True])
def test_the_lock_is_taken_by_one_call_alone(
    wall: Wall, store: RecapStore, *, crashed_before: bool
) -> None:
    """Spec 3.3: atomically; also where it has to be taken from a call that crashed."""
    now = NOW
    if crashed_before:
        _take(store, wall)
        now += LEASE
    results = _at_once(lambda: _take(store, wall, now), CALLS_OF_TAKE)
    claims = [result for result in results if isinstance(result, Claim)]
    refused = {result.code for result in results if isinstance(result, CallError)}
    assert (len(claims), refused) == (1, {Code.ABORTED})
    assert claims[0].resumed is crashed_before
    assert len(wall.recaps()) == 1


def _held(store: RecapStore, wall: Wall) -> StoredLock:
    held = store.lock(wall.id)
    assert held
    return held


def test_a_batch_is_started_by_one_of_many(wall: Wall, store: RecapStore) -> None:
    """Only the call that starts a batch may send it, even after its lease."""
    key = _take(store, wall).key
    (batch,), _ = store.plan(
        key, [], plan([["a", "b"]], per_batch=2), Counts(left=2), _held(store, wall)
    )
    held, holders = _held(store, wall), itertools.count()

    def start() -> Batch:
        started = batch.started(f"call-{next(holders)}", NOW)
        return store.start(key, started, Counts(), held)[0]

    results = _at_once(start)
    assert sum(isinstance(result, Batch) for result in results) == 1
    assert sum(isinstance(result, ChangedMeanwhileError) for result in results) == CALLS - 1
