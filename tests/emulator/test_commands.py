"""What a user sees in the terminal."""

from pathlib import Path

import pytest

from emulator import checks
from emulator.command_list import NAMES, Check
from emulator.processes import ProcessTree
from emulator.up import readable


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("a line that a function printed\n", "functions  a line that a function printed"),
        (
            '{"severity":"WARNING","message":"delivery.skipped","eventId":"e-1"}',
            "functions  WARNING delivery.skipped eventId=e-1",
        ),
        ("[1, 2]", "functions  [1, 2]"),
        ("[2026-11-22 19:01:33 +0000] [24102] [INFO] Starting gunicorn 27.0.1", ""),
        ("\n", ""),
    ],
)
def test_the_log_is_made_readable(line: str, shown: str) -> None:
    """What functions print is shown; what gunicorn says of its start stays in the log file."""
    assert readable(line) == shown


@pytest.mark.parametrize(
    ("arguments", "names", "extra"),
    [
        ([], list(NAMES), []),
        (["unit"], ["unit"], []),
        (["suite", "lint"], ["lint", "suite"], []),
        (["suite", "-k", "unit"], ["suite"], ["-k", "unit"]),
        (
            ["-k", "recap"],
            ["unit", "simulation", "runner", "rehearsal", "emulators", "suite"],
            ["-k", "recap"],
        ),
    ],
)
def test_checks_are_chosen_by_name(
    arguments: list[str], names: list[str], extra: list[str]
) -> None:
    """Checks run in their own order, and further arguments are for pytest alone."""
    chosen, rest = checks.choose(arguments)

    assert ([check.name for check in chosen], rest) == (names, extra)


_MEET = "touch {own}; until [ -e {other} ]; do sleep 0.01; done; exit {status}"


@pytest.mark.parametrize(("statuses", "status"), [((0, 0), 0), ((1, 0), 1), ((0, 1), 1)])
def test_checks_without_emulators_run_beside_those_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, statuses: tuple[int, int], status: int
) -> None:
    """Each of the two ends once the other has begun; a failure of either one is told."""
    names = [str(tmp_path / name) for name in ("beside", "emulators")]
    scripts = [
        _MEET.format(own=own, other=other, status=ended)
        for own, other, ended in zip(names, reversed(names), statuses, strict=True)
    ]
    chosen = [
        Check(f"check {number}", "", (("timeout", "60", "sh", "-c", script),), needs_ports=ports)
        for number, (script, ports) in enumerate(zip(scripts, (False, True), strict=True))
    ]
    monkeypatch.setattr(checks, "CHECKS", chosen)
    monkeypatch.setattr(checks, "check_ports", lambda _: None)

    assert checks.run(ProcessTree(), []) == status
