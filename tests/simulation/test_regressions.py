"""Schedules that have broken something once, each by hand, and with the bug put back.

With the bug each goes wrong as it did; so the schedule still is the one that found it.
"""

import contextlib

from tests.in_memory.through import Crash
from tests.simulation.mutants import MUTANTS
from tests.unit.recap.parts import ERRORS, At, House


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


def test_it_goes_wrong_with_the_bug_only() -> None:
    """Recaps are counted, and no mail was taken."""
    [mutant] = [mutant for mutant in MUTANTS if mutant.name == "given-back-after-the-release"]
    assert not _is_counted_without_a_mail()
    with mutant.apply():
        assert _is_counted_without_a_mail()
