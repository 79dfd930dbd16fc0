"""Every world, on as many schedules as a run has time for."""

import os

import pytest

from tests.simulation.explore import explore
from tests.simulation.worlds import WORLDS
from tools.command_list import ALL_VARIABLE

SCHEDULES = 2000 if ALL_VARIABLE in os.environ else 500


@pytest.mark.parametrize("world", WORLDS)
def test_no_schedule_breaks_what_must_hold(world: str) -> None:
    """Crashes, lost answers, repeated and late calls, pauses: see the world's invariants."""
    failure = explore(world, WORLDS[world], range(1, SCHEDULES + 1))
    assert failure is None, failure
