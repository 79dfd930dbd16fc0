"""Schedules that have broken something once, each by hand, and with the bug put back.

With the bug each goes wrong as it did; so the schedule still is the one that found it.
"""

from collections.abc import Callable

import pytest

from functions.webhooks.deliveries.delivery import Delivery, Outcome
from tests.simulation.mutants import MUTANTS
from tests.unit.webhooks.parts import EVENT, Parts


def _fourth_task_twice() -> Delivery:
    """Two dispatches of the fourth task: the first is answered 500, the second 202."""
    parts = Parts()
    delivery = parts.attempts(parts.delivery(), 500, 500, 500)
    parts.now = delivery.next_attempt_at or parts.now
    parts.answers = [202, 500]
    parts.after("sender.post", lambda: _dispatch(parts, delivery))
    parts.attempt(delivery, 4)
    return parts.record(delivery)


def _dispatch(parts: Parts, delivery: Delivery) -> None:
    parts.attempt(delivery, delivery.due_attempt)


def _is_lost() -> bool:
    return _fourth_task_twice().outcome is Outcome.FAILED


def _is_five_attempts() -> bool:
    return len(_fourth_task_twice().log) > 4


def _is_skipped_milestone() -> bool:
    """The hundredth photo, in an instance whose monotonic clock has just begun."""
    parts = Parts()
    parts.crowd(99)
    parts.publisher().photo_written("w1", EVENT, None, parts.photo())
    return "milestone.reached" not in [event for event, _ in parts.told]


@pytest.mark.parametrize(
    ("bug", "goes_wrong"),
    [
        ("failed-stays-failed", _is_lost),
        ("attempts-pile-up", _is_five_attempts),
        ("clock-at-zero", _is_skipped_milestone),
    ],
)
def test_it_goes_wrong_with_the_bug_only(bug: str, goes_wrong: Callable[[], bool]) -> None:
    """The acknowledgement that was lost, a fifth attempt on record, the milestone that was."""
    [mutant] = [one for one in MUTANTS if one.name == bug]
    assert not goes_wrong()
    with mutant.apply():
        assert goes_wrong()
