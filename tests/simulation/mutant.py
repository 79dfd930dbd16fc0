"""A mutant: the code with one thought left out. A simulation that does not see it is blind there.

Nothing is edited: a mutant stands in the place of a method for as long as it is tried.
"""

from dataclasses import dataclass
from typing import Any, Final
from unittest import mock

from tests.simulation.explore import first_violation
from tests.simulation.worlds import WORLDS

LIMIT: Final = 20_000
"""Schedules after which a mutant counts as not caught."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """Code with one thought left out.

    Attributes:
        name: Of the mutant.
        left_out: What the code does not do any more, for the table.
        of: The class or module whose function it replaces.
        function: The name of that function.
        instead: What stands in its place.
    """

    name: str
    left_out: str
    of: Any
    function: str
    instead: Any


def schedules_to_catch(
    world: str, mutant: Mutant, limit: int = LIMIT, first: int = 1
) -> tuple[int, str] | None:
    """Return the first schedule that catches the mutant and the violation, or None."""
    with mock.patch.object(mutant.of, mutant.function, mutant.instead):
        failed = first_violation(WORLDS[world], range(first, first + limit))
    return (failed.seed, failed.violations[0]) if failed else None
