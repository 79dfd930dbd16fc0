"""The simulation sees what is left out of the code; `docs/simulation.md` has the table."""

import pytest

from tests.simulation.mutant import Mutant, schedules_to_catch
from tests.simulation.mutants import MUTANTS

SCHEDULES = 2000


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda one: one.name)
def test_a_mutant_is_caught(mutant: Mutant) -> None:
    """Within the schedules of an ordinary run."""
    assert schedules_to_catch(mutant, SCHEDULES) is not None
