"""The commands, once everything is installed."""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import re
from typing import TYPE_CHECKING

from emulator import checks, pins
from emulator.environment import SetupError, say
from emulator.processes import ProcessTree
from emulator.receiver import describe
from emulator.suite import ADDRESS_VARIABLES, LOG, PROJECT, Suite, SuiteError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from emulator.people import Person
    from emulator.receiver import Request

STATUS_FAILED = 1

_USER_LINE = re.compile(r"^>\s+(.*)")
_NOTABLE = re.compile(r"^(⚠|⬢)\s+(.*)")
# The emulator looks whether a new worker answers, and the worker complains about the question.
_PROBES = ("WARNING:root:Request has invalid method. GET", "ERROR:root:Invalid request, unable to")
# What structured log lines have besides their message, and nobody reads in a terminal.
_UNREAD_FIELDS = {"severity", "level", "message", "event", "time", "timestamp"}


def run(command: str, arguments: Sequence[str]) -> int:
    """Run a command of the command line and return its exit status.

    Raises:
        SetupError: Something that the user has to see to.
    """
    if command == "pins":
        pins.renew(arguments)
        return 0
    try:
        with ProcessTree() as tree:
            return _run_in(tree, command, arguments)
    except SuiteError as error:
        say(str(error))
        return STATUS_FAILED


def _run_in(tree: ProcessTree, command: str, arguments: Sequence[str]) -> int:
    if command == "exec":
        with Suite() as suite:
            return tree.run(arguments, suite.environment)
    if command == "bench":
        with Suite() as suite:
            return tree.run(["python", "-m", "tests.bench", *arguments], suite.environment)
    if command == "test":
        return checks.run(tree, arguments)
    return _demo() if command == "demo" else _up()


def _demo() -> int:
    if importlib.util.find_spec("emulator.demo") is None:
        raise SetupError("This checkout has no emulator/demo.py.")
    # Needed by one command only, and not cheap to import.
    from emulator import stand_ins  # noqa: PLC0415

    demo = importlib.import_module("emulator.demo")
    with stand_ins.started() as started, Suite() as suite:
        _enter(suite)
        return int(demo.run(suite, started))


def _up() -> int:
    from emulator import people, stand_ins  # noqa: PLC0415 - as above

    with stand_ins.started(_print_request), Suite(on_line=_print_line) as suite:
        _enter(suite)
        staff = (people.sign_in("admin", "demo"), people.sign_in("superadmin"))
        print(_overview(suite, stand_ins.ADDRESSES, *staff), flush=True)
        suite.ended.wait()
        say(f"The emulators have ended by themselves; see {LOG}.")
        return STATUS_FAILED


def _enter(suite: Suite) -> None:
    """Let this process's own clients find the emulators."""
    os.environ.update(suite.environment)


def _overview(suite: Suite, addresses: Mapping[str, str], admin: Person, superadmin: Person) -> str:
    # By the name in its certificate.
    receiver = addresses["webhook receiver"].replace("127.0.0.1", "localhost")
    rows = [
        ("functions", f"http://{suite.addresses['functions']}/{PROJECT}/us-central1/<name>"),
        *((name, suite.addresses[name]) for name in ("firestore", "auth", "tasks")),
        ("receiver", f"https://{receiver}  /ok /flaky /dead /slow"),
        ("mailbox", f"http://{addresses['mailbox']}/"),
        ("page", f"http://{suite.addresses['hosting']}/preferences"),
        ("log", str(LOG)),
    ]
    settings = [f"export {name}={suite.environment[name]}" for name in ADDRESS_VARIABLES.values()]
    return "\n".join(
        [
            "",
            *(f"  {name:10} {place}" for name, place in rows),
            "",
            "In another terminal, for clients of the emulators:",
            *(f"  {line}" for line in settings),
            "",
            "For the calls in the README, an admin of the tenant demo, or a superadmin:",
            f"  export TOKEN={admin.id_token}",
            f"  export TOKEN={superadmin.id_token}",
            "",
            "Ctrl-C ends everything.",
            "",
        ],
    )


def _print_request(request: Request) -> None:
    print(f"receiver   {describe(request)}", flush=True)


def _print_line(line: str) -> None:
    if text := readable(line):
        print(text, flush=True)


def readable(line: str) -> str:
    """Return a line of the emulators' log for reading, empty where it is only noise.

    What functions print and what went wrong is kept; a structured line shows its message first.
    """
    if found := _NOTABLE.match(line):
        return f"emulators  {found[2]}"
    if not (found := _USER_LINE.match(line)) or not found[1].strip():
        return ""
    text = found[1]
    if text.startswith(_PROBES):
        return ""
    try:
        record = json.loads(text)
    except ValueError:
        record = None
    if not isinstance(record, dict):
        return f"functions  {text}"
    level = str(record.get("severity", record.get("level", "info"))).upper()
    message = record.get("message", record.get("event", ""))
    rest = [f"{name}={value}" for name, value in record.items() if name not in _UNREAD_FIELDS]
    return " ".join(["functions ", level, str(message), *rest])
