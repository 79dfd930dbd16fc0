"""The simulation sees what is left out of the code; `docs/simulation.md` has the table."""

from pathlib import Path

import pytest

from tests.simulation.mutant import Mutant, schedules_to_catch
from tests.simulation.mutants import MUTANTS

SCHEDULES = 2000


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda one: one.name)
def test_a_mutant_is_caught(mutant: Mutant) -> None:
    """Within the schedules of an ordinary run."""
    assert schedules_to_catch(mutant, SCHEDULES) is not None


def test_the_document_has_every_mutant() -> None:
    """In its table, which `python -m tests.simulation.mutants` prints."""
    rows = Path("docs/simulation.md").read_text(encoding="utf-8").splitlines()
    named = {tuple(row.split(" | ")[:2]) for row in rows}
    missing = [one.name for one in MUTANTS if (f"| {one.world}", one.name) not in named]
    assert not missing
