"""Lists of the commands, checks and benches, with the texts of `--help`.

This module uses only the standard library and compiles on old Pythons, because `--help` works
before the installation.
"""

from pathlib import Path
from typing import NamedTuple

_TSC = str(Path(__file__).parents[1] / "console/node_modules/.bin/tsc")


COMMANDS = {
    # name: arguments, description
    "demo": ("[--ports OFFSET]", "show a small sample event, from upload to recap"),
    "up": ("[--smtp] [--ports OFFSET]", "start the service with a sample event, until Ctrl-C"),
    "exec": ("[--ports OFFSET] -- CMD …", "run CMD with the service and return its exit status"),
    "test": ("[CHECK …] [--all] [pytest's arguments]", "run all checks, or only the named checks:"),
    "bench": ("[NAME …] [--ports OFFSET]", "measure all costs of the service, or only:"),
    "setup": ("", "install everything that the other commands and a deploy need"),
    "generate": ("[--check]", "write the generated parts of files, or check them"),
}
PORTS = "--ports"
"""Option with the offset of all ports of the service."""
PORT_OFFSET_VARIABLE = "WALL_PORT_OFFSET"
"""Environment variable with that offset, for the processes of the service."""
MAX_PORT_OFFSET = 50_000
SMTP = "--smtp"
"""On the command line: emails go through the local mail server, not the stand-in of SendGrid."""
SMTP_VARIABLE = "WALL_SMTP"
"""Set for the processes of the service in this case."""
WITH_PORTS = ("demo", "up", "exec", "bench")
"""Commands that accept `--ports`. The tests need the default ports."""

BENCHES = ("operations", "delivery", "cold-start", "recap", "noisy-neighbors")


PORTS_GROUP = "ports"
"""Group of the checks that start emulators, which have fixed ports."""


class Check(NamedTuple):
    """One check of `test`.

    Attributes:
        name: Name on the command line.
        description: Description for `--help`.
        commands: Programs with their arguments, in their order.
        folder: Folder of the tests that the check runs. Empty if it runs no tests.
        group: Checks of a group run one after another, and the groups run in parallel.
        on_cloud: Whether the check runs with the service on the local cloud.
        lanes: Folders of tests, grouped into lanes that run in parallel. Tests that share a
            resource, for example a port, are in the same lane.
        last: Tests that check the output of all other tests.
    """

    name: str
    description: str
    commands: "tuple[tuple[str, ...], ...]"
    folder: str = ""
    group: str = "core"
    on_cloud: bool = False
    lanes: "tuple[tuple[str, ...], ...]" = ()
    last: str = ""

    def has(self, argument: str) -> bool:
        """Return whether an argument is the path of tests of this check."""
        return bool(self.folder) and f"{argument}/".startswith(f"{self.folder}/")


_PYTEST = (("pytest",),)
_PYTEST_IN_TWO = (("pytest", "-n", "2", "--dist", "loadfile"),)

CHECKS = (
    Check(
        "lint",
        "ruff's rules and the generated parts of files",
        (("ruff", "check", "."), ("python", "-m", "tools.generate", "--check")),
    ),
    Check("format", "ruff's format", (("ruff", "format", "--check", "."),)),
    Check("imports", "the layers of imports and the pure core", (("lint-imports",),)),
    Check(
        "types",
        "strict mypy, and TypeScript's compiler for the pages",
        (("mypy",), (_TSC, "--project", "console")),
    ),
    Check(
        "unit",
        "fast tests of the core",
        _PYTEST_IN_TWO,
        folder="tests/unit",
    ),
    Check(
        "simulation",
        "use cases in random schedules with faults",
        _PYTEST,
        folder="tests/simulation",
    ),
    Check(
        "cli",
        "this command line and the files that a deploy uploads",
        _PYTEST,
        folder="tests/cli",
        group="commands",
    ),
    Check(
        "rehearsal",
        "`ops/` and the real firebase-tools with a fake Google",
        _PYTEST_IN_TWO,
        folder="tests/rehearsal",
    ),
    Check(
        "functions_emulator",
        "`exec`, `up` and the service on Firebase's functions emulator",
        _PYTEST,
        folder="tests/functions_emulator",
        group=PORTS_GROUP,
    ),
    Check(
        "suite",
        "the deployed service on the local cloud, with faults",
        _PYTEST,
        folder="tests/suite",
        group=PORTS_GROUP,
        on_cloud=True,
        lanes=(
            # The mailbox has one port. The console is first: Firestore's emulator counts photos
            # more slowly the more documents other tests have written.
            ("console", "contract", "recap"),
            ("webhooks", "rules", "store", "wall", "callables", "preferences"),
        ),
        last="test_output.py",
    ),
)
NAMES = tuple(check.name for check in CHECKS)

ALL = "--all"
"""Option that adds rarer mutants, long schedules and more floods."""
ALL_VARIABLE = "WALL_ALL_CHECKS"
"""Environment variable that passes the option to the tests."""
