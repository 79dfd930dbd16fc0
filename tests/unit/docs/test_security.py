"""docs/security.md: every line of its table is shown by tests, and those are there."""

import re
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[3]
PAGE: Final = (ROOT / "docs/security.md").read_text()
_TABLE: Final = PAGE.partition("## Attacks and defenses\n")[2].partition("\n## ")[0]
[_HEADING, *ROWS] = [line for line in _TABLE.splitlines() if line.startswith("| ")]
assert len(ROWS) > 20, "without rows the test below would hold nothing"


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.split(" | ")[1])
def test_a_line_names_the_tests_that_show_it(row: str) -> None:
    """Each line of the table names its tests by file and name."""
    shown_by = row.rstrip(" |").rpartition(" | ")[2]
    named = re.findall(r"`([\w/]+\.py)::(\w+)`", shown_by)
    assert named
    for file, test in named:
        assert f"\ndef {test}(" in (ROOT / file).read_text(), f"{file}::{test}"
