"""The commands, checks and benches, each in one list: what runs, and what `--help` says.

Standard library only, and old Pythons too: `--help` is read before anything is installed.
"""

from pathlib import Path
from typing import NamedTuple

_TSC = str(Path(__file__).parents[1] / "console/node_modules/.bin/tsc")


COMMANDS = {
    # name: its arguments, and what it does
    "demo": ("[--ports OFFSET]", "show the main job on a small made-up event, then end"),
    "up": (
        "[--ports OFFSET]",
        "start everything and keep it up until Ctrl-C, for trying things by hand",
    ),
    "exec": ("[--ports OFFSET] -- CMD …", "run CMD beside the service and return its exit status"),
    "test": ("[CHECK …] [--all] [pytest's arguments]", "run every check, or only the named ones;"),
    "bench": ("[NAME …] [--ports OFFSET]", "measure what the service costs, all or only:"),
    "setup": ("", "install what the other commands and a deploy need"),
    "generate": ("[--check]", "write the parts of files that follow from the code"),
}
PORTS = "--ports"
"""On the command line: the offset by which all ports of the service are moved."""
PORT_OFFSET_VARIABLE = "WALL_PORT_OFFSET"
"""Set to that offset for the processes of the service."""
MAX_PORT_OFFSET = 50_000
WITH_PORTS = ("demo", "up", "exec", "bench")
"""Commands whose ports can be moved. The tests name the default ports."""

BENCHES = ("operations", "delivery", "cold-start", "recap", "noisy-neighbors")


class Check(NamedTuple):
    """One step.

    Attributes:
        name: What it is called on the command line.
        says: What it is, for `--help`.
        commands: The programs and their arguments, one after the other.
        folder: The tests that it runs; skipped where there are none.
        needs_ports: Whether it starts emulators, which have fixed ports: such checks run one after
            the other, and all others beside them.
        on_cloud: Whether it runs against the service on the local cloud.
        lanes: Folders of its tests that run at the same time, one lane beside the other. What they
            share (a port, a switch) is in one lane.
        last: Tests that look at what all the others have left.
    """

    name: str
    says: str
    commands: "tuple[tuple[str, ...], ...]"
    folder: str = ""
    needs_ports: bool = False
    on_cloud: bool = False
    lanes: "tuple[tuple[str, ...], ...]" = ()
    last: str = ""

    def has(self, argument: str) -> bool:
        """Whether an argument is the path of tests of this check."""
        return bool(self.folder) and f"{argument}/".startswith(f"{self.folder}/")


_PYTEST = (("pytest",),)

CHECKS = (
    Check(
        "lint",
        "ruff's rules, and the generated parts of files",
        (("ruff", "check", "."), ("python", "-m", "tools.generate", "--check")),
    ),
    Check("format", "ruff's format", (("ruff", "format", "--check", "."),)),
    Check("imports", "imports point down only, and the core is pure", (("lint-imports",),)),
    Check(
        "types",
        "mypy, strict, and TypeScript's compiler for the pages",
        (("mypy",), (_TSC, "--project", "console")),
    ),
    Check(
        "unit",
        "the core, in seconds",
        (("pytest", "-n", "2", "--dist", "loadfile"),),
        folder="tests/unit",
    ),
    Check(
        "simulation",
        "use cases in many schedules, with faults at every call",
        _PYTEST,
        folder="tests/simulation",
    ),
    Check(
        "cli",
        "this command line, and what a deploy would upload",
        _PYTEST,
        folder="tests/cli",
    ),
    Check(
        "rehearsal",
        "`ops/` and the real firebase-tools, against a server that plays Google",
        _PYTEST,
        folder="tests/rehearsal",
    ),
    Check(
        "functions_emulator",
        "`exec`, `up`, and the service on Firebase's own functions emulator",
        _PYTEST,
        folder="tests/functions_emulator",
        needs_ports=True,
    ),
    Check(
        "suite",
        "the deployed shape on the local cloud, faults included",
        _PYTEST,
        folder="tests/suite",
        needs_ports=True,
        on_cloud=True,
        lanes=(
            # The mailbox has one port.
            ("recap", "contract", "console"),
            ("webhooks", "rules", "store", "wall", "callables", "preferences"),
        ),
        last="test_output.py",
    ),
)
NAMES = tuple(check.name for check in CHECKS)

ALL = "--all"
"""On the command line: rarer mutants, long schedules and more floods as well."""
ALL_VARIABLE = "WALL_ALL_CHECKS"
"""Set for the tests where that is asked for."""
