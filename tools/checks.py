"""`python3 -m emulator test`: runs the checks of the project.

The checks of a group run one after another, and the groups run in parallel.
"""

import json
import os
import shlex
import shutil
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias, TypeVar
from xml.etree import ElementTree as ET

from tools.command_list import ALL, ALL_VARIABLE, CHECKS, NAMES, PORTS_GROUP, Check
from tools.installation import tool_environment
from tools.paths import ROOT, STATE
from tools.processes import ProcessTree
from tools.steps import SetupError, read, say

PYTEST_FOUND_NOTHING = 5
LAST_LINES = 5

T = TypeVar("T")

Run: TypeAlias = Callable[[Sequence[str], Mapping[str, str]], int]
"""Runs a command in an environment and returns its exit status."""
Cloud: TypeAlias = Callable[[], AbstractContextManager[Any]]
"""Starts the service. The result has an `environment` for clients."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a check: duration, failed tests, and the reasons of skipped tests."""

    check: str
    result: str
    seconds: float
    failed: Sequence[str]
    skipped: Sequence[str] = ()

    def __str__(self) -> str:
        """Return the check's line of the summary."""
        reasons = Counter(self.skipped).items()
        skipped = [f", {count} skipped: {reason}" for reason, count in reasons]
        return f"  {self.check:10} {self.result:24} {self.seconds:6.1f} s{''.join(skipped)}"


def choose(arguments: Sequence[str]) -> tuple[list[Check], list[str]]:
    """Split the command's arguments into the checks to run and the arguments of pytest."""
    names = set()
    rest = list(arguments)
    while rest and rest[0] in NAMES:
        names.add(rest.pop(0))
    names = names or {check.name for check in CHECKS for part in rest if check.has(part)}
    chosen = [check for check in CHECKS if not names or check.name in names]
    if rest and not names:
        # The other checks have no tests for pytest's arguments.
        chosen = [check for check in chosen if check.folder]
    return chosen, rest


def run(
    tree: ProcessTree, arguments: Sequence[str], cloud: Cloud, check_ports: Callable[[], None]
) -> int:
    """Run the checks and print a summary.

    Args:
        tree: Owns every process that is started.
        arguments: Names of checks (default: all) and `--all`, then arguments for pytest.
        cloud: Starts the service for the checks that need it.
        check_ports: Raises `SetupError` if a port of the service is in use.

    Returns:
        0 if all checks passed, 1 otherwise.

    Raises:
        SetupError: A port of the service is in use, or a tool is missing.
    """
    if ALL in arguments:
        os.environ[ALL_VARIABLE] = "true"
    checks, extra = choose([argument for argument in arguments if argument != ALL])
    groups: dict[str, list[Check]] = {}
    for check in checks:
        groups.setdefault(check.group, []).append(check)
    if PORTS_GROUP in groups:
        check_ports()  # before the other checks, which take minutes

    def run_group(name: str, run: Run) -> list[Outcome]:
        return list(_run_all(tree, groups[name], extra, cloud, run))

    # The group that takes longest, the one with ports, prints while it runs.
    *background, shown = sorted(groups, key=lambda group: group == PORTS_GROUP)
    running = [
        _run_in_thread(partial(run_group, group, _run_in_background)) for group in background
    ]
    outcomes = run_group(shown, tree.run)
    outcomes += [outcome for join in running for outcome in join()]
    order = [check.name for check in checks]
    outcomes.sort(key=lambda outcome: order.index(outcome.check))
    say("\nSummary")
    for outcome in outcomes:
        say(str(outcome))
    failed = repeat_commands(outcomes)
    say("\n".join(failed))
    return int(bool(failed))


def repeat_commands(outcomes: Sequence[Outcome]) -> list[str]:
    """Return at most five lines with the commands that repeat what failed."""
    commands = [
        shlex.join(["python3", "-m", "emulator", "test", outcome.check, *test])
        for outcome in outcomes
        if outcome.result.startswith("FAILED")
        for test in ([[name] for name in outcome.failed] or [[]])
    ]
    if not commands:
        return []
    most = LAST_LINES - 1 if len(commands) < LAST_LINES else LAST_LINES - 2
    more = [f"  … and {len(commands) - most} more, named above"] if len(commands) > most else []
    return ["Failed. To repeat:", *(f"  {command}" for command in commands[:most]), *more]


def _run_in_thread(work: Callable[[], T]) -> Callable[[], T]:
    """Start `work` in a daemon thread and return a function that waits for its result."""
    future: Future[T] = Future()

    def do() -> None:
        try:
            future.set_result(work())
        except BaseException as error:  # noqa: BLE001 - raised by result()
            future.set_exception(error)

    threading.Thread(target=do, daemon=True).start()
    return future.result


def _run_all(
    tree: ProcessTree, checks: Sequence[Check], extra: Sequence[str], cloud: Cloud, run: Run
) -> Iterator[Outcome]:
    for check in checks:
        if tree.is_ending:
            return
        started = time.monotonic()
        memory = STATE / "pytest" / check.name
        shutil.rmtree(memory, ignore_errors=True)
        outcome = _run_check(check, extra, cloud, run)
        failed = [
            test
            for path in sorted(memory.glob("*/v/cache/lastfailed"))
            for test in json.loads(read(path))
        ]
        skipped = [
            one.attrib["message"]
            for report in sorted(memory.glob("*.xml"))
            for one in ET.parse(report).iter("skipped")  # noqa: S314 - pytest's own
        ]
        yield Outcome(check.name, outcome, time.monotonic() - started, failed, skipped)


def _run_in_background(command: Sequence[str], environment: Mapping[str, str]) -> int:
    """Run a command in parallel to others, and print its output at its end."""
    ran = subprocess.run(
        command,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
    )
    say(f"\n{' '.join(command)}\n{ran.stdout}")
    return ran.returncode


def _run_check(check: Check, extra: Sequence[str], cloud: Cloud, run: Run) -> str:
    if check.on_cloud:
        try:
            with cloud() as service:
                return _run_on_cloud(check, service.environment, extra, run)
        except SetupError as error:
            say(str(error))
            return "FAILED (not started)"
    for command in check.commands:
        whole = _pytest_command(check, extra) if check.folder else command
        say(f"\n{check.name}: {' '.join(whole)}")
        outcome = _result(run(whole, tool_environment(os.environ)), extra)
        if outcome.startswith("FAILED"):
            break
    return outcome


def _run_on_cloud(
    check: Check, environment: Mapping[str, str], extra: Sequence[str], run: Run
) -> str:
    """Run the lanes in parallel, then the tests of `check.last`."""
    if extra or not check.lanes:
        return _result(run(_pytest_command(check, extra), environment), extra)
    lanes = [
        _pytest_command(check, [f"{check.folder}/{name}" for name in lane]) for lane in check.lanes
    ]
    running = [_run_in_thread(partial(_run_in_background, lane, environment)) for lane in lanes]
    statuses = [status() for status in running]
    last = _pytest_command(check, [f"{check.folder}/{check.last}"])
    say(f"\n{check.name}: {' '.join(last)}")
    return _result(max(*statuses, run(last, environment)), extra)


def _pytest_command(check: Check, extra: Sequence[str]) -> list[str]:
    """Return the pytest command. Without paths in `extra`, it runs the check's folder."""
    others = [other for other in CHECKS if other is not check]
    extra = [part for part in extra if not any(other.has(part) for other in others)]
    names = any(check.has(argument) for argument in extra)
    folder = [] if names else [check.folder]
    # Pytest writes the failed tests to this folder, and a report with the skipped tests next to it.
    # Each parallel run has a separate folder.
    memory = STATE / "pytest" / check.name / (extra[0] if names else "all").replace("/", "-")
    shown = memory.relative_to(ROOT)
    written = ("-o", f"cache_dir={shown}", f"--junit-xml={shown}.xml")
    return [*check.commands[0], *written, *folder, *extra]


def _result(status: int, extra: Sequence[str]) -> str:
    if status == 0:
        return "passed"
    if status == PYTEST_FOUND_NOTHING and extra:
        return "nothing chosen"
    return f"FAILED (status {status})"
