"""`python3 -m emulator test`: every check of the project, one after the other."""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from emulator.environment import CONSOLE, ROOT, SetupError, python, say, tool_environment
from emulator.ports import check_ports
from emulator.suite import Suite, SuiteError, read_addresses

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from emulator.processes import ProcessTree
    from emulator.pythons import Interpreter

PYTEST_FOUND_NOTHING = 5


@dataclass(frozen=True, slots=True)
class Check:
    """One step.

    Attributes:
        name: What it is called on the command line.
        command: The program and its arguments.
        folder: The tests that it runs; skipped where there are none.
        in_suite: Whether it runs inside the emulators.
        needs_ports: Whether it starts emulators itself.
        on_every_python: Whether it runs on the other supported Pythons of this machine as well.
        beside: The check that it runs beside, where both are chosen: one computes, the other waits.
    """

    name: str
    command: tuple[str, ...]
    folder: str = ""
    in_suite: bool = False
    needs_ports: bool = False
    on_every_python: bool = False
    beside: str = ""


CHECKS = (
    Check("lint", ("ruff", "check", ".")),
    Check("format", ("ruff", "format", "--check", ".")),
    Check("imports", ("lint-imports",)),
    Check("types", ("mypy",)),
    Check("types", (str(CONSOLE / "node_modules/.bin/tsc"), "--project", str(CONSOLE))),
    Check("unit", ("pytest",), folder="tests/unit", on_every_python=True),
    Check("simulation", ("pytest",), folder="tests/simulation", beside="runner"),
    # Outside the suite: these start and stop it themselves.
    Check("runner", ("pytest",), folder="tests/emulator", needs_ports=True),
    Check("suite", ("pytest",), folder="tests/suite", in_suite=True),
)
NAMES = tuple(check.name for check in CHECKS)


def choose(arguments: Sequence[str]) -> tuple[list[Check], list[str]]:
    """Split the command's arguments into the checks to run and what is passed on to pytest."""
    names = set()
    rest = list(arguments)
    while rest and rest[0] in NAMES:
        names.add(rest.pop(0))
    chosen = [check for check in CHECKS if not names or check.name in names]
    if rest and not names:
        # Arguments for pytest make no sense to the others.
        chosen = [check for check in chosen if check.folder]
    return chosen, rest


def run(tree: ProcessTree, arguments: Sequence[str]) -> int:
    """Run the checks and print a summary.

    Args:
        tree: Owns every process that is started.
        arguments: Names of checks (none means all), then arguments for pytest.

    Returns:
        0 when all passed, 1 otherwise.

    Raises:
        SetupError: The suite's ports are taken, or a tool is missing.
    """
    checks, extra = choose(arguments)
    if any(check.in_suite or check.needs_ports for check in checks):
        # Said now and not after minutes of other checks.
        check_ports(read_addresses())
    outcomes: list[tuple[str, str, float]] = []
    for check in checks:
        if any(one.name == check.beside for one in checks):
            continue
        beside = [_Beside(one, extra) for one in checks if one.beside == check.name]
        started = time.monotonic()
        outcome = _run_check(tree, check, extra)
        outcomes.append((check.name, outcome, time.monotonic() - started))
        for other in python.others() if check.on_every_python else []:
            started = time.monotonic()
            outcome = _run_on(tree, other, check, extra)
            outcomes.append((f"{check.name} {other.name}", outcome, time.monotonic() - started))
        outcomes += [one.outcome() for one in beside]
    say("\nSummary")
    for name, outcome, seconds in outcomes:
        say(f"  {name:10} {outcome:24} {seconds:6.1f} s")
    return int(any(outcome.startswith("FAILED") for _, outcome, _ in outcomes))


class _Beside:
    """A check that runs while another one does; what it prints is shown after that."""

    def __init__(self, check: Check, extra: Sequence[str]) -> None:
        """Start it, as a member of this process's tree."""
        self._name = check.name
        self._command = _command(check, extra)
        self._extra = extra
        self._started = time.monotonic()
        self._printed = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the outcome
        self._process = subprocess.Popen(
            self._command,
            env=tool_environment(os.environ),
            stdout=self._printed,
            stderr=subprocess.STDOUT,
        )

    def outcome(self) -> tuple[str, str, float]:
        """Wait for its end and show what it printed: its name, how it ended, seconds until now."""
        status = self._process.wait()
        seconds = time.monotonic() - self._started
        with self._printed as printed:
            printed.seek(0)
            text = printed.read().decode(errors="replace")
        say(f"\n{self._name}: {' '.join(self._command)}\n{text}")
        return self._name, _told(status, self._extra), seconds


def _run_check(tree: ProcessTree, check: Check, extra: Sequence[str]) -> str:
    if check.folder and not any((ROOT / check.folder).rglob("test_*.py")):
        say(f"\n{check.name}: skipped, {check.folder} holds no tests")
        return "skipped"
    command = _command(check, extra)
    say(f"\n{check.name}: {' '.join(command)}")
    if not check.in_suite:
        return _outcome(tree, command, tool_environment(os.environ), extra)
    try:
        with Suite() as suite:
            return _outcome(tree, command, suite.environment, extra)
    except SuiteError as error:
        say(str(error))
        return "FAILED (no suite)"


def _command(check: Check, extra: Sequence[str]) -> list[str]:
    return [*check.command, *([check.folder, *extra] if check.folder else [])]


def _run_on(tree: ProcessTree, other: Interpreter, check: Check, extra: Sequence[str]) -> str:
    say(f"\n{check.name} on Python {other.name}")
    try:
        binary = python.unit_python(other)
    except SetupError as error:
        say(str(error))
        return "FAILED (not installed)"
    command = [str(binary), "-m", *_command(check, extra)]
    return _outcome(tree, command, tool_environment(os.environ), extra)


def _outcome(
    tree: ProcessTree,
    command: Sequence[str],
    environment: Mapping[str, str],
    extra: Sequence[str],
) -> str:
    return _told(tree.run(command, environment), extra)


def _told(status: int, extra: Sequence[str]) -> str:
    if status == 0:
        return "passed"
    if status == PYTEST_FOUND_NOTHING and extra:
        return "nothing chosen"
    return f"FAILED (status {status})"
