"""Schedules of every world."""

import os

import pytest

from tests.simulation.explore import explore
from tests.simulation.worlds import WORLDS
from tools.command_list import ALL_VARIABLE

SCHEDULES = 2000 if ALL_VARIABLE in os.environ else 150


@pytest.mark.parametrize("world", WORLDS)
def test_no_schedule_violates_an_invariant(world: str) -> None:
    """Check the world's invariants with crashes, lost responses, repeated calls and pauses."""
    failure = explore(world, WORLDS[world], range(1, SCHEDULES + 1))
    assert failure is None, failure
