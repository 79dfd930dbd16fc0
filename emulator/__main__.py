"""The command line: `python3 -m emulator --help`.

Starts with whatever Python it is given, goes on with one that will do, and from there, once
everything is installed, with the one in ./venv. Until then only the standard library is there.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys

from emulator import pythons
from emulator.check_list import CHECKS

STATUS_CANNOT_START = 2
SHELL_SIGNAL_BASE = 128

DESCRIPTION = """\
Runs the service on this machine: Firebase's emulators with the functions in main.py.

What it needs beforehand: Python 3.11 to 3.14, Node.js 20 or newer, and access to the package
registries. The first run installs the rest inside this checkout, which takes a minute or two.
"""

COMMANDS = """\
commands:
  demo           show the main job on a small made-up event, then end
  up             start everything and keep it up until Ctrl-C, for trying things by hand
  exec -- CMD …  run CMD inside the suite and return its exit status
  cloud -- CMD … the same, beside the deployed shape that the checks run against
  test [CHECK …] [--all] [pytest's arguments]
                 run every check, or only some of:
{checks}
                 with --all the rarer half of the mutants and the long schedules as well
  bench [NAME …] measure what the service costs and print the figures, or only some of:
                 operations delivery cold-start recap mail-events growth load
  pins [--upgrade]
                 make requirements.txt of requirements.in, with hashes

examples:
  python3 -m emulator exec -- bash
  python3 -m emulator test unit
  python3 -m emulator test suite -k recap

Its logs are in .emulator/; the emulators' is .emulator/suite.log.
"""


def main() -> int:
    """Read the command line, see to the environment, and run the command."""
    command, arguments = _read_command_line()
    if sys.platform == "win32":
        return _refuse("Windows is not supported: use the Windows Subsystem for Linux.")
    if sys.version_info[:2] not in pythons.SUPPORTED:
        return _restart_with_supported_python()

    # Only from here on: these do not run on every Python.
    from emulator import environment  # noqa: PLC0415

    os.chdir(environment.ROOT)
    # While installing; a running suite has a way of its own.
    signal.signal(signal.SIGTERM, _stop)
    signal.signal(signal.SIGHUP, _stop)
    try:
        installed = environment.prepare()
        in_venv = os.path.realpath(sys.prefix) == os.path.realpath(environment.VENV)
        if installed or not in_venv:
            python = str(environment.VENV_PYTHON)
            os.execv(python, [python, "-m", "emulator", *sys.argv[1:]])  # noqa: S606

        from emulator import commands  # noqa: PLC0415

        return commands.run(command, arguments)
    except environment.SetupError as error:
        return _refuse(str(error))
    except KeyboardInterrupt:
        return SHELL_SIGNAL_BASE + signal.SIGINT


def _stop(number: int, _frame: object) -> None:
    raise SystemExit(SHELL_SIGNAL_BASE + number)


def _read_command_line() -> tuple[str, list[str]]:
    parser = argparse.ArgumentParser(
        prog="python3 -m emulator",
        description=DESCRIPTION,
        epilog=COMMANDS.format(checks=_checks()),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        usage="python3 -m emulator {demo,up,exec,cloud,test,bench,pins} …",
    )
    parser.add_argument(
        "command",
        choices=("demo", "up", "exec", "cloud", "test", "bench", "pins"),
        help=argparse.SUPPRESS,
    )
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    parsed = parser.parse_args()
    arguments = list(parsed.arguments)
    if parsed.command in ("exec", "cloud"):
        if arguments[:1] == ["--"]:
            del arguments[0]
        if not arguments:
            name = parsed.command
            parser.error(f"{name} needs a command: python3 -m emulator {name} -- CMD …")
    elif parsed.command in ("demo", "up") and arguments:
        parser.error(f"{parsed.command} takes no arguments")
    return parsed.command, arguments


def _checks() -> str:
    return "\n".join(f"                 {check.name:11}{check.says}" for check in CHECKS)


def _restart_with_supported_python() -> int:
    for python in pythons.on_path():
        os.execv(str(python.path), [str(python.path), "-m", "emulator", *sys.argv[1:]])  # noqa: S606
    found = ".".join(map(str, sys.version_info[:2]))
    return _refuse(f"This is Python {found}. {pythons.how_to_get_one()}")


def _refuse(text: str) -> int:
    print(text, file=sys.stderr)
    return STATUS_CANNOT_START


if __name__ == "__main__":
    sys.exit(main())
