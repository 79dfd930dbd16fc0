"""Mutants: the code without one safeguard. The simulation must catch each mutant.

No file is edited: a mutant replaces a method while it is tested.
"""

from dataclasses import dataclass
from typing import Any, Final
from unittest import mock

from tests.simulation.explore import first_violation
from tests.simulation.worlds import WORLDS

LIMIT: Final = 20_000
"""Maximum number of schedules to catch a mutant."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """The code without one safeguard.

    Attributes:
        name: Name of the mutant.
        left_out: The missing safeguard, for the table.
        of: The class or module of the replaced function.
        function: Name of the replaced function.
        instead: The replacement.
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
