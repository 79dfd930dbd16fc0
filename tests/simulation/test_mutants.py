"""The simulation catches each mutant. The mutants of each world are defined in its folder."""

from unittest import mock

import pytest

from tests.simulation.endpoints import mutants as endpoints
from tests.simulation.explore import first_violation
from tests.simulation.mutant import Mutant
from tests.simulation.recap import mutants as recap
from tests.simulation.webhooks import mutants as webhooks
from tests.simulation.worlds import WORLDS

SCHEDULES = range(1, 2001)

MUTANTS = [
    pytest.param(world, mutant, id=mutant.name)
    for world, module in (("webhooks", webhooks), ("recap", recap), ("endpoints", endpoints))
    for mutant in module.MUTANTS
]


@pytest.mark.parametrize(("world", "mutant"), MUTANTS)
def test_a_mutant_is_caught(world: str, mutant: Mutant) -> None:
    """Name the missing safeguard of a mutant that the world's schedules do not catch."""
    with mock.patch.object(mutant.of, mutant.function, mutant.instead):
        assert first_violation(WORLDS[world], SCHEDULES), mutant.left_out
