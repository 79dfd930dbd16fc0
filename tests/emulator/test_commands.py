"""What a user sees in the terminal."""

import pytest

from emulator import checks
from emulator.command_list import NAMES
from emulator.up import readable


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        (">  a line that a function printed", "functions  a line that a function printed"),
        (
            '>  {"severity":"WARNING","message":"delivery.skipped","eventId":"e-1"}',
            "functions  WARNING delivery.skipped eventId=e-1",
        ),
        (">  [1, 2]", "functions  [1, 2]"),
        ("⚠  functions: something is odd", "emulators  functions: something is odd"),
        ('i  functions: Beginning execution of "onPhotoWritten"', ""),
        (">  WARNING:root:Request has invalid method. GET", ""),
        (">  ", ""),
        ("", ""),
    ],
)
def test_the_log_is_made_readable(line: str, shown: str) -> None:
    """What functions say and what went wrong is shown, the rest stays in the log file."""
    assert readable(line) == shown


@pytest.mark.parametrize(
    ("arguments", "names", "extra"),
    [
        ([], list(NAMES), []),
        (["unit"], ["unit"], []),
        (["suite", "lint"], ["lint", "suite"], []),
        (["suite", "-k", "unit"], ["suite"], ["-k", "unit"]),
        (["-k", "recap"], ["unit", "simulation", "runner", "emulators", "suite"], ["-k", "recap"]),
    ],
)
def test_checks_are_chosen_by_name(
    arguments: list[str], names: list[str], extra: list[str]
) -> None:
    """In their own order; what follows is for pytest, and pytest alone."""
    chosen, rest = checks.choose(arguments)

    assert ([check.name for check in chosen], rest) == (names, extra)
