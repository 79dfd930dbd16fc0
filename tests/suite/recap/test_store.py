"""The lock and the ledger under calls at the very same moment (spec 3.3)."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import TypeVar

import pytest

from functions.call_error import CallError, Code
from functions.recap.arguments import Mode
from functions.recap.ledger import LEASE, Batch, RecapState, plan
from functions.recap.store.recap_store import Claim, RecapStore, TakenElsewhereError
from tests.suite.recap.wall import Wall

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
CALLS = 20

_Result = TypeVar("_Result")


def _at_once(call: Callable[[], _Result]) -> list[_Result | Exception]:
    """Make so many calls that none has begun before all can; their results or errors."""
    gate = threading.Barrier(CALLS)

    def one(_: int) -> _Result | Exception:
        gate.wait()
        try:
            return call()
        except (CallError, TakenElsewhereError) as refused:
            return refused

    with ThreadPoolExecutor(CALLS) as threads:
        return list(threads.map(one, range(CALLS)))


@pytest.fixture
def store(wall: Wall) -> RecapStore:
    """The adapter itself."""
    return RecapStore(wall.db)


@pytest.mark.parametrize("crashed_before", [False, True])
def test_the_lock_is_taken_by_one_of_many(
    wall: Wall, store: RecapStore, *, crashed_before: bool
) -> None:
    """Spec 3.3: atomically; also where it has to be taken from a call that crashed."""
    now = NOW
    if crashed_before:
        store.take(wall.id, Mode.ALL, "crashed", now)
        now += LEASE
    results = _at_once(lambda: store.take(wall.id, Mode.ALL, "u", now))
    claims = [one for one in results if isinstance(one, Claim)]
    refused = [one for one in results if isinstance(one, CallError)]
    assert (len(claims), {one.code for one in refused}) == (1, {Code.ABORTED})
    assert claims[0].resumed is crashed_before
    assert len(wall.recaps()) == 1


def test_a_batch_is_started_by_one_of_many(wall: Wall, store: RecapStore) -> None:
    """Whatever becomes of leases: only who starts a batch may send it."""
    claim = store.take(wall.id, Mode.ALL, "u", NOW)
    (batch,) = store.plan(claim, plan(["a", "b"]), skipped=0, left=0)

    def start() -> Batch:
        own = _another_call(claim)
        return store.start(own, batch, ["a", "b"], skipped=0, now=NOW)

    results = _at_once(start)
    assert sum(isinstance(one, Batch) for one in results) == 1
    assert sum(isinstance(one, TakenElsewhereError) for one in results) == CALLS - 1


def _another_call(claim: Claim) -> Claim:
    """The same recap in the hands of somebody who does not know that their lease is over."""
    return Claim(claim.event_id, claim.recap_id, f"{threading.get_ident()}", resumed=True)


def test_who_has_lost_the_lock_does_not_release_it(wall: Wall, store: RecapStore) -> None:
    """A call that outlived its lease leaves the next one alone."""
    late = store.take(wall.id, Mode.ALL, "u", NOW)
    store.take(wall.id, Mode.ALL, "u", NOW + LEASE)
    store.finish(late, RecapState.FAILED, sent_now=False, now=NOW + LEASE)
    with pytest.raises(CallError) as refused:
        store.take(wall.id, Mode.ALL, "u", NOW + LEASE + timedelta(seconds=1))
    assert refused.value.code is Code.ABORTED
