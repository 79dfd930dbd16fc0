"""`python3 -m emulator test`: every check of the project.

Checks that need the emulators' ports run one after the other, and all others beside them.
"""

import os
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from functools import partial
from typing import TypeAlias, TypeVar

from emulator.cloud.local_cloud import LocalCloud, NotStartedError
from emulator.command_list import ALL, ALL_VARIABLE, CHECKS, NAMES, Check
from emulator.environment import ROOT, say, tool_environment
from emulator.firebase import read_addresses
from emulator.ports import check_ports
from emulator.processes import ProcessTree

PYTEST_FOUND_NOTHING = 5

T = TypeVar("T")

Run: TypeAlias = Callable[[Sequence[str], Mapping[str, str]], int]
"""Runs a command in an environment; its exit status."""
Outcome: TypeAlias = tuple[str, str, float]
"""A check's name, how it ended, and its seconds."""


def choose(arguments: Sequence[str]) -> tuple[list[Check], list[str]]:
    """Split the command's arguments into the checks to run and the arguments of pytest."""
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
    with_ports = [check for check in checks if check.needs_ports]
    others = [check for check in checks if not check.needs_ports]
    if with_ports:
        # Said now and not after minutes of other checks.
        check_ports(read_addresses())
    if with_ports and others:
        beside = _start(lambda: list(_run_all(tree, others, extra, _run_aside)))
        outcomes = list(_run_all(tree, with_ports, extra, tree.run))
        outcomes = beside() + outcomes
    else:
        outcomes = list(_run_all(tree, checks, extra, tree.run))
    say("\nSummary")
    for name, outcome, seconds in outcomes:
        say(f"  {name:10} {outcome:24} {seconds:6.1f} s")
    return int(any(outcome.startswith("FAILED") for _, outcome, _ in outcomes))


def _start(work: Callable[[], T]) -> Callable[[], T]:
    """Begin `work` in a thread, and return a function that waits for its result.

    When this command is to end, nobody waits for the thread: it is a daemon.
    """
    future: Future[T] = Future()

    def do() -> None:
        try:
            future.set_result(work())
        except BaseException as error:  # noqa: BLE001 - raised where the result is asked for
            future.set_exception(error)

    threading.Thread(target=do, daemon=True).start()
    return future.result


def _run_all(
    tree: ProcessTree, checks: Sequence[Check], extra: Sequence[str], run: Run
) -> Iterator[Outcome]:
    for check in checks:
        if tree.is_ending:
            return
        started = time.monotonic()
        outcome = _run_check(check, extra, run)
        yield check.name, outcome, time.monotonic() - started


def _run_aside(command: Sequence[str], environment: Mapping[str, str]) -> int:
    """Run a command while others do; what it prints is shown at its end."""
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


def _run_check(check: Check, extra: Sequence[str], run: Run) -> str:
    if check.folder and not any((ROOT / check.folder).rglob("test_*.py")):
        say(f"\n{check.name}: skipped, {check.folder} holds no tests")
        return "skipped"
    if check.on_cloud:
        try:
            with LocalCloud() as cloud:
                return _run_on_cloud(check, cloud.environment, extra, run)
        except NotStartedError as error:
            say(str(error))
            return "FAILED (not started)"
    for command in check.commands:
        whole = _with_folder(command, check, extra)
        say(f"\n{check.name}: {' '.join(whole)}")
        outcome = _told(run(whole, tool_environment(os.environ)), extra)
        if outcome.startswith("FAILED"):
            break
    return outcome


def _run_on_cloud(
    check: Check, environment: Mapping[str, str], extra: Sequence[str], run: Run
) -> str:
    """Run the lanes at the same time, and what looks at all of them after that."""
    command = check.commands[0]
    if extra or not check.lanes:
        return _told(run(_with_folder(command, check, extra), environment), extra)
    lanes = [[*command, *(f"{check.folder}/{folder}" for folder in lane)] for lane in check.lanes]
    running = [_start(partial(_run_aside, lane, environment)) for lane in lanes]
    statuses = [status() for status in running]
    last = [*command, f"{check.folder}/{check.last}"]
    say(f"\n{check.name}: {' '.join(last)}")
    return _told(max(*statuses, run(last, environment)), extra)


def _with_folder(command: Sequence[str], check: Check, extra: Sequence[str]) -> list[str]:
    return [*command, *([check.folder, *extra] if check.folder else [])]


def _told(status: int, extra: Sequence[str]) -> str:
    if status == 0:
        return "passed"
    if status == PYTEST_FOUND_NOTHING and extra:
        return "nothing chosen"
    return f"FAILED (status {status})"
