"""The command line: `python3 -m emulator --help`.

Continues in the Python of ./venv once everything is installed. Until then, only the standard
library is available.
"""

import argparse
import itertools
import os
import re
import signal
import sys

from tools.command_list import (
    ALL,
    BENCHES,
    CHECKS,
    COMMANDS,
    MAX_PORT_OFFSET,
    NAMES,
    PORT_OFFSET_VARIABLE,
    PORTS,
    SMTP,
    SMTP_VARIABLE,
    WITH_PORTS,
)

OLDEST = (3, 11)
NEWEST = (3, 14)
HOW_TO_GET_ONE = (
    "Install one from your system, python.org, pyenv or uv, and run: python3.13 -m emulator"
)

STATUS_CANNOT_START = 2
SHELL_SIGNAL_BASE = 128

DESCRIPTION = """\
Runs the service on this machine: the functions of main.py as they are deployed, with Firebase's
emulators of Firestore, Auth and Hosting.

Requirements: Python 3.11 to 3.14, Node.js 20 or newer, and access to the package registries. The
first run installs everything else inside this checkout, in a minute or two. The first start
downloads the Firestore emulator into ~/.cache/firebase.
"""

EXAMPLES = """\
examples:
  python3 -m emulator exec -- bash
  python3 -m emulator up --ports 200      if a port is in use: 5200 instead of 5000 and so on
  python3 -m emulator test unit
  python3 -m emulator test suite -k recap

Logs are in .emulator/. The log of the service is .emulator/suite.log.
"""


def main() -> int:
    """Parse the command line, prepare the environment and run the command."""
    command, arguments, port_offset = _read_command_line()
    if sys.platform == "win32":
        return _refuse("Windows is not supported. Use the Windows Subsystem for Linux.")
    if not OLDEST <= sys.version_info[:2] <= NEWEST:
        found = ".".join(map(str, sys.version_info[:2]))
        supported = "{}.{} to {}.{}".format(*OLDEST, *NEWEST)
        return _refuse(f"This is Python {found}. Python {supported} is needed. {HOW_TO_GET_ONE}")

    # Imported after the check, because these modules need a supported Python.
    from tools import installation, paths, proxies  # noqa: PLC0415
    from tools.steps import SetupError  # noqa: PLC0415

    os.chdir(paths.ROOT)
    # For this process and all of its children.
    os.environ.update(proxies.loopback_bypass(os.environ))
    os.environ[PORT_OFFSET_VARIABLE] = str(port_offset)
    # During the installation. `ProcessTree` replaces these handlers later.
    signal.signal(signal.SIGTERM, _stop)
    signal.signal(signal.SIGHUP, _stop)
    try:
        installed = installation.prepare()
        in_venv = os.path.realpath(sys.prefix) == os.path.realpath(paths.VENV)
        if installed or not in_venv:
            python = str(paths.VENV_PYTHON)
            os.execv(python, [python, "-m", "emulator", *sys.argv[1:]])  # noqa: S606

        from emulator import commands  # noqa: PLC0415

        return commands.run(command, arguments)
    except SetupError as error:
        return _refuse(str(error))
    except KeyboardInterrupt:
        return SHELL_SIGNAL_BASE + signal.SIGINT


def _stop(number: int, _frame: object) -> None:
    raise SystemExit(SHELL_SIGNAL_BASE + number)


def _read_command_line() -> "tuple[str, list[str], int]":
    parser = argparse.ArgumentParser(
        prog="python3 -m emulator",
        description=DESCRIPTION,
        epilog=_help(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        usage=f"python3 -m emulator {{{','.join(COMMANDS)}}} …",
    )
    parser.add_argument(
        "command",
        choices=tuple(COMMANDS),
        help=argparse.SUPPRESS,
    )
    command = parser.parse_args(sys.argv[1:2]).command
    arguments = sys.argv[2:]
    own = arguments[:1] if command == "exec" else arguments
    if {"-h", "--help"} & set(own):
        parser.print_help()
        parser.exit()
    port_offset = _take_port_offset(parser, command, arguments)
    own = arguments[:1]
    if command == "up" and SMTP in arguments:
        arguments.remove(SMTP)
        os.environ[SMTP_VARIABLE] = "true"
    if command == "exec":
        if own == ["--"]:
            del arguments[0]
        if not arguments or (own != ["--"] and own[0].startswith("-")):
            parser.error("exec needs a command: python3 -m emulator exec -- CMD …")
    elif command == "generate":
        if arguments not in ([], ["--check"]):
            parser.error("generate accepts only --check")
    elif command not in ("test", "bench") and arguments:
        parser.error(f"{command} takes no arguments")
    else:
        # Not an assignment expression: this file must compile on old Pythons.
        unknown = _unknown(command, arguments)
        if unknown:
            parser.error(f"unknown argument of {command}: {unknown}. See --help")
    return command, arguments, port_offset


def _take_port_offset(parser: argparse.ArgumentParser, command: str, arguments: "list[str]") -> int:
    """Remove `--ports OFFSET` from the arguments and return the offset.

    In the arguments of `exec`, the option comes first. Later ones belong to CMD.
    """
    for index, argument in enumerate(arguments[:1] if command == "exec" else arguments):
        name, is_joined, text = argument.partition("=")
        if name != PORTS:
            continue
        if command not in WITH_PORTS:
            parser.error(f"{command} takes no {PORTS}")
        end = index + 1 if is_joined else index + 2
        text = text if is_joined else "".join(arguments[index + 1 : end])
        if not re.fullmatch("[0-9]{1,5}", text) or int(text) > MAX_PORT_OFFSET:
            parser.error(f"{PORTS} needs a number from 0 to {MAX_PORT_OFFSET}")
        del arguments[index:end]
        return int(text)
    return 0


def _unknown(command: str, arguments: "list[str]") -> str:
    """Return the first unknown name of a check or bench, or an empty text.

    After the names of checks, pytest's arguments follow: options, or paths of tests.
    """
    known = NAMES if command == "test" else BENCHES
    named = itertools.takewhile(
        lambda name: not name.startswith("-"), (name for name in arguments if name != ALL)
    )
    unknown = (name for name in named if name not in known)
    return next((name for name in unknown if not any(check.has(name) for check in CHECKS)), "")


def _help() -> str:
    """List the commands with their checks and benches, and the examples."""
    under = " " * 17
    lines = ["commands:"]
    for name, (arguments, says) in COMMANDS.items():
        call = f"  {name} {arguments}".rstrip()
        # A long call gets a line of its own.
        lines += [f"{call:16} {says}"] if len(call) < len(under) else [call, under + says]
        if name == "test":
            rows = [(check.name, check.description) for check in CHECKS]
            rows.append((ALL, "add rarer mutants, long schedules and more floods"))
            width = max(len(label) for label, _ in rows) + 2
            lines += [f"{under}{label:{width}}{text}" for label, text in rows]
        if name == "bench":
            lines.append(under + " ".join(BENCHES))
    return "\n".join([*lines, "", EXAMPLES])


def _refuse(text: str) -> int:
    print(text, file=sys.stderr)
    return STATUS_CANNOT_START


if __name__ == "__main__":
    sys.exit(main())
