"""A mutant: the code with one thought left out. A simulation that does not see it is blind there.

Nothing is edited: a mutant stands in the place of a method for as long as it is tried.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager
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
        world: Where it lives.
        name: Of the mutant.
        left_out: What the code does not do any more, for the table.
        apply: Gives what puts it in place, and takes it away again.
    """

    world: str
    name: str
    left_out: str
    apply: Callable[[], AbstractContextManager[Any]]


def instead_of(of: Any, name: str, do: Callable[..., Any]) -> Callable[[], Any]:
    """For `Mutant.apply`: `do` in the place of the function `name` of a class or module."""
    return lambda: mock.patch.object(of, name, do)


def schedules_to_catch(mutant: Mutant, limit: int = LIMIT) -> tuple[int, str] | None:
    """How many schedules it took, and what was seen; None where it was not caught."""
    with mutant.apply():
        failed = first_violation(WORLDS[mutant.world], range(1, limit + 1))
    return (failed.seed, failed.violations[0]) if failed else None
