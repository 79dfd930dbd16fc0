"""The lock and the ledger (spec 3.3, design 3)."""

from datetime import UTC, datetime, timedelta

import pytest

from functions.call_error import CallError, Code
from functions.recap.ledger import COOLDOWN, Lock, RecapState, Tally, final_state, plan, resumable

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
SOON, BEFORE = NOW + timedelta(seconds=1), NOW - timedelta(seconds=1)


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
def test_what_a_call_may_do(
    leased_until: datetime | None,
    cooldown_until: datetime | None,
    unfinished: bool,
    expected: Code | str | None,
) -> None:
    """Spec 3.3, each row: refused, continuing the recap `r`, or starting a new one (None)."""
    lock = Lock("r", "holder", leased_until, cooldown_until, unfinished)
    if isinstance(expected, Code):
        with pytest.raises(CallError) as refused:
            resumable(lock, NOW)
        assert refused.value.code is expected
    else:
        assert resumable(lock, NOW) == expected


def test_without_a_lock_a_recap_is_new() -> None:
    """Spec 3.3, idle."""
    assert resumable(None, NOW) is None


def test_a_refusal_says_from_when_on_the_next_recap_is_possible() -> None:
    """Spec 7.1, resource-exhausted."""
    lock = Lock("r", "holder", None, NOW + COOLDOWN, unfinished=False)
    with pytest.raises(CallError, match=r"2026-05-02T12:00:00\.000Z"):
        resumable(lock, NOW)


@pytest.mark.parametrize(
    ("count", "sizes"),
    [(0, []), (1, [1]), (1000, [1000]), (1001, [1000, 1]), (5000, [1000] * 5)],
)
def test_a_batch_has_1000_recipients_at_most(count: int, sizes: list[int]) -> None:
    """Design 5: of one request to SendGrid."""
    batches = plan([str(n) for n in range(count)])
    assert [len(one.recipients) for one in batches] == sizes
    assert [one for batch in batches for one in batch.recipients] == [str(n) for n in range(count)]


@pytest.mark.parametrize(
    ("tally", "sent_before", "expected"),
    [
        (Tally(accepted=5), 0, RecapState.SENT),
        (Tally(unknown=5), 0, RecapState.SENT),
        (Tally(), 5, RecapState.SENT),
        (Tally(accepted=5, open=5), 0, RecapState.INTERRUPTED),
        (Tally(unknown=5, open=5), 0, RecapState.INTERRUPTED),
        (Tally(open=5), 5, RecapState.INTERRUPTED),
        (Tally(faults=1), 0, RecapState.INTERRUPTED),
        (Tally(open=5), 0, RecapState.FAILED),
        (Tally(refused=5), 0, RecapState.EMPTY),
        (Tally(), 0, RecapState.EMPTY),
    ],
)
def test_how_a_call_ends(tally: Tally, sent_before: int, expected: RecapState) -> None:
    """Design 3: what was sent cools down, and what is open can be continued."""
    assert final_state(tally, sent_before) is expected
    assert expected.cools_down is (tally.sent + sent_before + tally.faults > 0)
