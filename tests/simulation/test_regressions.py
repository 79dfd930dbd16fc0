"""Schedules that have broken something once, each by hand, and with the bug put back.

With the bug each goes wrong as it did; so the schedule still is the one that found it.
"""

import contextlib
from collections.abc import Callable

import pytest

from functions.webhooks.deliveries.delivery import Delivery, Outcome
from tests.in_memory.through import Crash
from tests.simulation.mutants import MUTANTS
from tests.unit.recap.parts import ERRORS, At, House
from tests.unit.webhooks.parts import EVENT, FAILURES, Parts


def _last_task_twice() -> Delivery:
    """Two dispatches of the last task: the first is answered 500, the second 202."""
    parts = Parts()
    delivery = parts.attempts(parts.delivery(), *FAILURES[1:])
    parts.now = delivery.next_attempt_at or parts.now
    parts.answers = [202, 500]
    parts.after("sender.post", lambda: _dispatch(parts, delivery))
    parts.attempt(delivery, delivery.due_attempt)
    return parts.record(delivery)


def _dispatch(parts: Parts, delivery: Delivery) -> None:
    parts.attempt(delivery, delivery.due_attempt)


def _is_lost() -> bool:
    return _last_task_twice().outcome is Outcome.FAILED


def _is_one_attempt_more() -> bool:
    return len(_last_task_twice().log) > len(FAILURES)


def _is_skipped_milestone() -> bool:
    """The hundredth photo, in an instance whose monotonic clock has just begun."""
    parts = Parts()
    parts.crowd(99)
    parts.publisher().photo_written("w1", EVENT, None, parts.photo())
    return "milestone.reached" not in [event for event, _ in parts.told]


def _is_counted_without_a_mail() -> bool:
    """Three calls that the mail service refuses crash with the lock released."""

    def crash() -> None:
        raise Crash

    house = House()
    house.guests(1)
    for _ in range(3):
        house.answers = [(401, {}, ERRORS)]
        with contextlib.suppress(Crash):
            house.send(At("recaps.release", crash))
        house.later(minutes=11)
    return house.send().sent == 0


@pytest.mark.parametrize(
    ("bug", "goes_wrong"),
    [
        ("failed-stays-failed", _is_lost),
        ("attempts-pile-up", _is_one_attempt_more),
        ("clock-at-zero", _is_skipped_milestone),
        ("given-back-after-the-release", _is_counted_without_a_mail),
    ],
)
def test_it_goes_wrong_with_the_bug_only(bug: str, goes_wrong: Callable[[], bool]) -> None:
    """Lost acknowledgement, fifth attempt, lost milestone, recaps counted twice or not at all."""
    [mutant] = [mutant for mutant in MUTANTS if mutant.name == bug]
    assert not goes_wrong()
    with mutant.apply():
        assert goes_wrong()
