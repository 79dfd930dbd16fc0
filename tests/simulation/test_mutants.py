"""The simulation catches each mutant."""

import os

import pytest

from tests.simulation.mutant import Mutant, schedules_to_catch
from tests.simulation.mutants import MUTANTS, RARE
from tools.command_list import ALL_VARIABLE

SCHEDULES = 2000


def tried() -> list[Mutant]:
    """All mutants with `--all`; else those that are caught soon."""
    everyone = ALL_VARIABLE in os.environ
    return [mutant for mutant in MUTANTS if everyone or mutant.name not in RARE]


@pytest.mark.parametrize("mutant", tried(), ids=lambda one: one.name)
def test_a_mutant_is_caught(mutant: Mutant) -> None:
    """A mutant is caught within `SCHEDULES` schedules."""
    assert schedules_to_catch(mutant, SCHEDULES) is not None


def test_rare_mutants_are_mutants() -> None:
    """A misspelt name in `RARE` would let a slow mutant into every run."""
    assert {mutant.name for mutant in MUTANTS} >= RARE
