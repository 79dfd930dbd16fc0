"""The simulation sees what is left out of the code; `docs/simulation.md` has the table."""

import os
from pathlib import Path

import pytest

from emulator.command_list import ALL_VARIABLE
from tests.simulation.mutant import Mutant, schedules_to_catch
from tests.simulation.mutants import MUTANTS

SCHEDULES = 2000
OFTEN = 20
"""Schedules in which the more frequent half of the mutants is caught, by the table."""


def tried() -> list[Mutant]:
    """All mutants with `--all`; else the ones that the table does not say to be caught late."""
    if ALL_VARIABLE in os.environ:
        return list(MUTANTS)
    rows = [row.split(" | ") for row in rows_of_the_table()]
    rare = {row[1] for row in rows if int(row[3].replace(",", "")) > OFTEN}
    return [mutant for mutant in MUTANTS if mutant.name not in rare]


def rows_of_the_table() -> list[str]:
    """The rows of the document's table of mutants."""
    lines = Path("docs/simulation.md").read_text(encoding="utf-8").splitlines()
    worlds = {f"| {mutant.world} | " for mutant in MUTANTS}
    return [line for line in lines if any(line.startswith(world) for world in worlds)]


@pytest.mark.parametrize("mutant", tried(), ids=lambda one: one.name)
def test_a_mutant_is_caught(mutant: Mutant) -> None:
    """Within so many schedules."""
    assert schedules_to_catch(mutant, SCHEDULES) is not None


def test_the_document_has_every_mutant() -> None:
    """In its table, which `python -m tests.simulation.mutants` prints."""
    named = {tuple(row.split(" | ")[:2]) for row in rows_of_the_table()}
    missing = [mutant.name for mutant in MUTANTS if (f"| {mutant.world}", mutant.name) not in named]
    assert not missing
