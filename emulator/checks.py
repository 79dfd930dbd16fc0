"""`python3 -m emulator test`: every check of the project, one after the other."""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from typing import TYPE_CHECKING

from emulator.cloud.local_cloud import LocalCloud
from emulator.command_list import ALL, ALL_VARIABLE, CHECKS, NAMES, Check
from emulator.environment import ROOT, SetupError, python, say, tool_environment
from emulator.ports import check_ports
from emulator.suite import SuiteError, read_addresses

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from emulator.processes import ProcessTree
    from emulator.pythons import Interpreter

PYTEST_FOUND_NOTHING = 5


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
        arguments: Names of checks (none means all) and `--all`, then arguments for pytest.

    Returns:
        0 when all passed, 1 otherwise.

    Raises:
        SetupError: The suite's ports are taken, or a tool is missing.
    """
    if ALL in arguments:
        os.environ[ALL_VARIABLE] = "true"
    checks, extra = choose([argument for argument in arguments if argument != ALL])
    if any(check.on_cloud or check.needs_ports for check in checks):
        # Said now and not after minutes of other checks.
        check_ports(read_addresses())
    outcomes: list[tuple[str, str, float]] = []
    for check in checks:
        if any(other.name == check.beside for other in checks):
            continue
        environment = tool_environment(os.environ)
        beside = [
            _Beside(other.name, _command(other, extra), environment, extra)
            for other in checks
            if other.beside == check.name
        ]
        started = time.monotonic()
        outcome = _run_check(tree, check, extra)
        outcomes.append((check.name, outcome, time.monotonic() - started))
        for other in python.others() if check.on_every_python else []:
            started = time.monotonic()
            outcome = _run_on(tree, other, check, extra)
            outcomes.append((f"{check.name} {other.name}", outcome, time.monotonic() - started))
        outcomes += [other.outcome() for other in beside]
    say("\nSummary")
    for name, outcome, seconds in outcomes:
        say(f"  {name:10} {outcome:24} {seconds:6.1f} s")
    return int(any(outcome.startswith("FAILED") for _, outcome, _ in outcomes))


class _Beside:
    """A command that runs while others do; what it prints is shown at its end."""

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        environment: Mapping[str, str],
        extra: Sequence[str],
    ) -> None:
        """Start it, as a member of this process's tree."""
        self._name = name
        self._command = command
        self._extra = extra
        self._started = time.monotonic()
        self._printed = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the outcome
        self._process = subprocess.Popen(
            command, env=environment, stdout=self._printed, stderr=subprocess.STDOUT
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
    try:
        if check.on_cloud:
            with LocalCloud() as cloud:
                return _run_on_cloud(tree, check, cloud.environment, extra)
    except SuiteError as error:
        say(str(error))
        return "FAILED (not started)"
    for command in check.commands:
        whole = _with_folder(command, check, extra)
        say(f"\n{check.name}: {' '.join(whole)}")
        outcome = _outcome(tree, whole, tool_environment(os.environ), extra)
        if outcome.startswith("FAILED"):
            return outcome
    return outcome


def _run_on_cloud(
    tree: ProcessTree, check: Check, environment: Mapping[str, str], extra: Sequence[str]
) -> str:
    """Run the lanes at the same time, and what looks at all of them after that."""
    if extra or not check.lanes:
        return _outcome(tree, _command(check, extra), environment, extra)
    lanes = [
        _Beside(
            f"{check.name} {number}",
            [*check.commands[0], *(f"{check.folder}/{folder}" for folder in lane)],
            environment,
            extra,
        )
        for number, lane in enumerate(check.lanes, 1)
    ]
    outcomes = [lane.outcome()[1] for lane in lanes]
    last = [*check.commands[0], f"{check.folder}/{check.last}"]
    say(f"\n{check.name}: {' '.join(last)}")
    outcomes.append(_outcome(tree, last, environment, extra))
    return next((outcome for outcome in outcomes if outcome.startswith("FAILED")), "passed")


def _command(check: Check, extra: Sequence[str]) -> list[str]:
    return _with_folder(check.commands[0], check, extra)


def _with_folder(command: Sequence[str], check: Check, extra: Sequence[str]) -> list[str]:
    return [*command, *([check.folder, *extra] if check.folder else [])]


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
