"""The lock and the ledger (spec 3.3, design 3.40)."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from functions.call.errors import CallError, Code
from functions.recap.ledger.batch import (
    Batch,
    BatchState,
    RecapState,
    last_mail,
    recap_state,
)
from functions.recap.ledger.recap_store import COOLDOWN, LEASE, Lock, acquired_lock, recap_to_resume

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
SOON, BEFORE = NOW + timedelta(seconds=1), NOW - timedelta(seconds=1)


def _lock(
    leased_until: datetime | None, cooldown_until: datetime | None, *, unfinished: bool
) -> Lock:
    return Lock(
        recap_id="r",
        holder="holder",
        leased_until=leased_until,
        cooldown_until=cooldown_until,
        unfinished=unfinished,
    )


def _batch(state: BatchState, recipients: int = 5, **fields: Any) -> Batch:
    ids = tuple(str(number) for number in range(recipients))
    return Batch(number=0, state=state, recipients=ids, **fields)


@pytest.mark.parametrize(
    ("leased_until", "cooldown_until", "unfinished", "expected"),
    [
        (SOON, SOON, True, Code.ABORTED),
        (SOON, None, False, Code.ABORTED),
        (None, SOON, False, Code.RESOURCE_EXHAUSTED),
        (None, SOON, True, "r"),
        (BEFORE, SOON, True, "r"),
        (NOW, SOON, True, "r"),
        (None, None, False, None),
        (None, NOW, False, None),
        (None, BEFORE, True, None),
        (BEFORE, BEFORE, True, None),
    ],
)
def test_a_call_is_rejected_continues_a_recap_or_starts_one(
    leased_until: datetime | None,
    cooldown_until: datetime | None,
    unfinished: bool,
    expected: Code | str | None,
) -> None:
    """Spec 3.3: `r` is the recap to continue, and None means a new one."""
    lock = _lock(leased_until, cooldown_until, unfinished=unfinished)
    if isinstance(expected, Code):
        with pytest.raises(CallError) as refused:
            recap_to_resume(lock, NOW)
        assert refused.value.code is expected
    else:
        assert recap_to_resume(lock, NOW) == expected


PLANNED, STARTED = _batch(BatchState.PLANNED), _batch(BatchState.STARTED)
ACCEPTED, UNKNOWN = _batch(BatchState.ACCEPTED), _batch(BatchState.UNKNOWN)
NOBODY = _batch(BatchState.ACCEPTED, recipients=0)


@pytest.mark.parametrize(
    ("batches", "expected"),
    [
        ([ACCEPTED], RecapState.SENT),
        ([UNKNOWN], RecapState.SENT),
        ([ACCEPTED, NOBODY], RecapState.SENT),
        ([ACCEPTED, PLANNED], RecapState.INTERRUPTED),
        ([UNKNOWN, PLANNED], RecapState.INTERRUPTED),
        ([STARTED], RecapState.INTERRUPTED),
        ([ACCEPTED, STARTED], RecapState.INTERRUPTED),
        ([PLANNED], RecapState.FAILED),
        ([PLANNED, NOBODY], RecapState.FAILED),
        ([NOBODY], RecapState.EMPTY),
        ([], RecapState.EMPTY),
    ],
)
def test_the_state_of_a_recap_follows_from_its_batches(
    batches: list[Batch], expected: RecapState
) -> None:
    """Design 3.42: a sent recap cools down, and an open one can be continued."""
    assert recap_state(batches) is expected


def test_the_cooldown_counts_from_the_last_email() -> None:
    """Spec 3.3: a request without an accepted email starts no cooldown."""
    batches = [
        _batch(BatchState.PLANNED, started_at=NOW - timedelta(hours=3)),
        _batch(BatchState.ACCEPTED, recipients=0, started_at=NOW - timedelta(hours=2)),
        _batch(BatchState.ACCEPTED, started_at=NOW),
        _batch(BatchState.UNKNOWN, started_at=NOW - timedelta(hours=1)),
    ]
    assert last_mail(batches) == NOW
    assert last_mail(batches[:2]) is None


@pytest.mark.parametrize(
    ("before", "recap_id"),
    [
        (None, "new"),
        (_lock(None, None, unfinished=False), "new"),
        (_lock(BEFORE, SOON, unfinished=True), "r"),
        (_lock(BEFORE, BEFORE, unfinished=True), "new"),
    ],
)
def test_the_lock_that_a_call_takes_follows_from_the_lock_before(
    before: Lock | None, recap_id: str
) -> None:
    """Design 3.43: the lock names a new recap, or the continued recap with its own cooldown."""
    lock = acquired_lock(before, holder="me", recap_id="new", at=NOW)
    cooldown = before.cooldown_until if before and recap_id == "r" else NOW + COOLDOWN
    assert (lock.recap_id, lock.cooldown_until) == (recap_id, cooldown)
    assert (lock.holder, lock.leased_until) == ("me", NOW + LEASE)


def test_a_call_finds_its_own_lock_after_a_lost_answer() -> None:
    """A repeated attempt to acquire the lock continues with the same recap."""
    lock = acquired_lock(None, holder="me", recap_id="new", at=NOW)
    assert acquired_lock(lock, holder="me", recap_id="another", at=NOW) == lock
