"""The output of commands in the terminal."""

import re
from contextlib import nullcontext
from pathlib import Path

import pytest

from emulator import commands
from emulator.cloud.local_cloud import LocalCloud
from emulator.up import readable
from tools import checks
from tools.checks import Outcome
from tools.command_list import NAMES, Check
from tools.paths import ROOT, STATE
from tools.processes import ProcessTree


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
def test_log_lines_are_readable(line: str, shown: str) -> None:
    """Show the functions' lines. Gunicorn's lines about its start stay in the log file."""
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
            ["unit", "simulation", "cli", "rehearsal", "functions_emulator", "suite"],
            ["-k", "recap"],
        ),
        (["tests/unit/test_x.py::test_y"], ["unit"], ["tests/unit/test_x.py::test_y"]),
        (
            ["tests/functions_emulator", "-x"],
            ["functions_emulator"],
            ["tests/functions_emulator", "-x"],
        ),
        (["-x", "tests/suite/rules"], ["suite"], ["-x", "tests/suite/rules"]),
    ],
)
def test_checks_are_chosen_by_name_or_by_the_path_of_tests(
    arguments: list[str], names: list[str], extra: list[str]
) -> None:
    """Run checks in the order of the list. Other arguments are passed only to pytest."""
    chosen, rest = checks.choose(arguments)

    assert ([check.name for check in chosen], rest) == (names, extra)


def test_each_check_gets_the_paths_of_its_own_tests(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Start both checks, each with its own path and the options."""
    chosen = [Check(name, "", (("echo",),), folder=f"tests/{name}") for name in ("a", "as")]
    monkeypatch.setattr(checks, "CHECKS", chosen)

    assert (
        checks.run(ProcessTree(), ["tests/a/x", "tests/as/y", "-q"], nullcontext, lambda: None) == 0
    )
    assert [line.split()[-2:] for line in capfd.readouterr().out.splitlines()] == [
        ["tests/a/x", "-q"],
        ["tests/as/y", "-q"],
    ]


_MEET = "touch {own}; until [ -e {other} ]; do sleep 0.01; done; exit {status}"


@pytest.mark.parametrize(("statuses", "status"), [((0, 0), 0), ((1, 0), 1), ((0, 1), 1)])
def test_groups_of_checks_run_in_parallel(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, statuses: tuple[int, int], status: int
) -> None:
    """Run both at the same time: each ends after the other has started. Both can fail."""
    names = [str(tmp_path / name) for name in ("beside", "emulators")]
    scripts = [
        _MEET.format(own=own, other=other, status=ended)
        for own, other, ended in zip(names, reversed(names), statuses, strict=True)
    ]
    chosen = [
        Check(f"check {number}", "", (("timeout", "60", "sh", "-c", script),), group=group)
        for number, (script, group) in enumerate(zip(scripts, ("core", "ports"), strict=True))
    ]
    monkeypatch.setattr(checks, "CHECKS", chosen)

    assert checks.run(ProcessTree(), [], nullcontext, lambda: None) == status


_TESTS = [f"tests/suite/recap/test_email_layout.py::test_{number}" for number in range(9)]
_AGAIN = "  python3 -m emulator test"


@pytest.mark.parametrize(
    ("failed", "lines"),
    [
        ({}, []),
        ({"lint": []}, [f"{_AGAIN} lint"]),
        ({"suite": [f"{_TESTS[0]}[a b]"]}, [f"{_AGAIN} suite '{_TESTS[0]}[a b]'"]),
        (
            {"types": [], "suite": _TESTS},
            [
                f"{_AGAIN} types",
                *(f"{_AGAIN} suite {test}" for test in _TESTS[:2]),
                "  … and 7 more, named above",
            ],
        ),
    ],
)
def test_the_last_lines_have_the_commands_that_repeat_failures(
    failed: dict[str, list[str]], lines: list[str]
) -> None:
    """Print at most five lines, each with the command that repeats a check or test."""
    outcomes = [Outcome(check, "FAILED (status 1)", 1.0, tests) for check, tests in failed.items()]
    passed = Outcome("unit", "passed", 1.0, [])

    printed = checks.repeat_commands([passed, *outcomes])

    assert (printed[1:], len(printed) <= 5) == (lines, True)


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> str:
    """Create the only check: one test passes, one fails, one is skipped. Return its folder."""
    folder = STATE / "written"
    folder.mkdir(exist_ok=True)
    test = "import pytest\ndef test_good(): pass\ndef test_bad(): assert not 1\n"
    test += "@pytest.mark.parametrize('n', [1, 2])\n"
    test += "def test_page(n): pytest.skip('needs a browser')\n"
    (folder / "test_some.py").write_text(test)
    shown = str(folder.relative_to(ROOT))
    monkeypatch.setattr(checks, "STATE", folder)  # the real check of this name runs now
    monkeypatch.setattr(checks, "CHECKS", [Check("unit", "", (("pytest", "-q"),), folder=shown)])
    return shown


def test_the_last_line_repeats_only_the_failed_test(
    written: str, capfd: pytest.CaptureFixture[str]
) -> None:
    """Run the command of the last line: it repeats only that test."""
    assert checks.run(ProcessTree(), [], nullcontext, lambda: None) == 1
    *_, last = capfd.readouterr().err.splitlines()
    assert last == f"{_AGAIN} unit {written}/test_some.py::test_bad"
    assert checks.run(ProcessTree(), last.split()[4:], nullcontext, lambda: None) == 1
    assert "1 failed in" in capfd.readouterr().out


@pytest.mark.usefixtures("written")
def test_the_summary_says_how_many_tests_were_skipped_and_why(
    capfd: pytest.CaptureFixture[str],
) -> None:
    """Report skipped tests, for example without a browser. The status stays 0."""
    assert checks.run(ProcessTree(), ["-k", "not bad"], nullcontext, lambda: None) == 0
    [line] = [text for text in capfd.readouterr().err.splitlines() if text.startswith("  unit ")]
    assert re.fullmatch(r"  unit       passed +\d+\.\d s, 2 skipped: needs a browser", line)


@pytest.mark.parametrize(
    ("command", "status"),
    [("nosuchcommand", 127), ("./nosuch/command", 127), ("./README.md", 126), ("./docs", 126)],
)
def test_a_command_that_cannot_be_started_starts_no_service(
    command: str, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Return the status of a shell immediately."""
    entered: list[LocalCloud] = []
    monkeypatch.setattr(LocalCloud, "__enter__", entered.append)
    monkeypatch.setattr(LocalCloud, "__exit__", lambda *_: None)
    monkeypatch.chdir(ROOT)

    assert commands._exec(ProcessTree(), [command]) == status  # noqa: SLF001 - without ending others
    assert entered == []
