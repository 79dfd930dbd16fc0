"""The parts of files that `python3 -m emulator generate` writes."""

import re

import pytest

from functions.parameters import DECLARED
from tools import generate
from tools.paths import ROOT


@pytest.mark.parametrize("path", [".env", *sorted({path for path, _ in generate.PARTS})])
def test_no_generated_part_is_stale(path: str) -> None:
    """The check `lint` compares the same."""
    assert generate.files()[path] == (ROOT / path).read_text()


def test_a_deployments_own_values_are_kept() -> None:
    """`.env` is edited by operators: generating it changes comments and missing lines only."""
    before = "MAIL_FROM=Ann <ann@example.org>\nTHREADS=8\n"
    after = generate.dotenv(before)
    assert "\nMAIL_FROM=Ann <ann@example.org>\n" in after
    assert "\nTHREADS=8\n" in after
    names = re.findall(r"^(\w+)=", after, re.MULTILINE)
    assert names == [*(each.name for each in DECLARED.values()), *generate.ENVIRONMENT]


def test_a_part_without_its_marks_is_an_error() -> None:
    """A deleted mark would leave a part stale, unnoticed."""
    with pytest.raises(ValueError, match="event types"):
        generate._with_part("no marks", "event types", "")  # noqa: SLF001
