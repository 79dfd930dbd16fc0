"""The simulation catches each mutant."""

import os

import pytest

from tests.simulation.mutant import LIMIT, Mutant, schedules_to_catch
from tests.simulation.mutants import MUTANTS, RARE
from tools.command_list import ALL_VARIABLE

SCHEDULES = 2000

TRIED = [
    pytest.param(world, mutant, id=mutant.name)
    for world, mutant in MUTANTS
    if ALL_VARIABLE in os.environ or mutant.name not in RARE
]
"""All mutants with `--all`, or only the common ones."""


@pytest.mark.parametrize(("world", "mutant"), TRIED)
def test_a_mutant_is_caught(world: str, mutant: Mutant) -> None:
    """Catch a mutant within `SCHEDULES` schedules, and a rare one within `LIMIT`."""
    limit, first = (LIMIT, RARE[mutant.name]) if mutant.name in RARE else (SCHEDULES, 1)
    assert schedules_to_catch(world, mutant, limit, first) is not None


def test_rare_mutants_are_mutants() -> None:
    """Check the names in `RARE`: a misspelled name adds a slow mutant to every run."""
    assert {mutant.name for _, mutant in MUTANTS} >= set(RARE)
