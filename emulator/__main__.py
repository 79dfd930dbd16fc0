"""The command line: `python3 -m emulator --help`.

Goes on with the Python in ./venv once everything is installed. Until then only the standard library
is there.
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
    WITH_PORTS,
)

OLDEST = (3, 11)
NEWEST = (3, 14)
HOW_TO_GET_ONE = "from your system, python.org, pyenv or uv: python3.13 -m emulator"

STATUS_CANNOT_START = 2
SHELL_SIGNAL_BASE = 128

DESCRIPTION = """\
Runs the service on this machine: the functions in main.py as they are deployed, beside Firebase's
emulators of Firestore, Auth and Hosting.

What it needs beforehand: Python 3.11 to 3.14, Node.js 20 or newer, and access to the package
registries. The first run installs the rest inside this checkout, which takes a minute or two; the
first start downloads Firestore's emulator into ~/.cache/firebase.
"""

EXAMPLES = """\
examples:
  python3 -m emulator exec -- bash
  python3 -m emulator up --ports 200      if a port is in use: 5200 instead of 5000 and so on
  python3 -m emulator test unit
  python3 -m emulator test suite -k recap

Its logs are in .emulator/; the service's is .emulator/suite.log.
"""


def main() -> int:
    """Read the command line, see to the environment, and run the command."""
    command, arguments, port_offset = _read_command_line()
    if sys.platform == "win32":
        return _refuse("Windows is not supported: use the Windows Subsystem for Linux.")
    if not OLDEST <= sys.version_info[:2] <= NEWEST:
        found = ".".join(map(str, sys.version_info[:2]))
        supported = "{}.{} to {}.{}".format(*OLDEST, *NEWEST)
        return _refuse(f"This is Python {found}. Python {supported} is needed, {HOW_TO_GET_ONE}")

    # Only from here on: these do not run on every Python.
    from tools import installation, paths, proxies  # noqa: PLC0415
    from tools.steps import SetupError  # noqa: PLC0415

    os.chdir(paths.ROOT)
    # For this process and all that it starts.
    os.environ.update(proxies.loopback_bypass(os.environ))
    os.environ[PORT_OFFSET_VARIABLE] = str(port_offset)
    # While installing; a running suite has a way of its own.
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
    if command == "exec":
        if own == ["--"]:
            del arguments[0]
        if not arguments or (own != ["--"] and own[0].startswith("-")):
            parser.error("exec needs a command: python3 -m emulator exec -- CMD …")
    elif command == "generate":
        if arguments not in ([], ["--check"]):
            parser.error("generate takes --check only")
    elif command not in ("test", "bench") and arguments:
        parser.error(f"{command} takes no arguments")
    else:
        # Old Pythons know no assignment in a condition.
        unknown = _unknown(command, arguments)
        if unknown:
            parser.error(f"{command} knows no {unknown}; see --help")
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
    """The first argument that should name a check or a bench and does not; empty where none is.

    Behind the names of checks stand pytest's arguments: options, or tests by their path.
    """
    known = NAMES if command == "test" else BENCHES
    named = itertools.takewhile(
        lambda name: not name.startswith("-"), (name for name in arguments if name != ALL)
    )
    unknown = (name for name in named if name not in known)
    return next((name for name in unknown if not any(check.has(name) for check in CHECKS)), "")


def _help() -> str:
    """The commands with the checks and benches, then examples."""
    under = " " * 17
    lines = ["commands:"]
    for name, (arguments, says) in COMMANDS.items():
        call = f"  {name} {arguments}".rstrip()
        # Arguments that leave no room have a line of their own.
        lines += [f"{call:16} {says}"] if len(call) < len(under) else [call, under + says]
        if name == "test":
            lines += [f"{under}{check.name:11}{check.says}" for check in CHECKS]
            lines += [f"{under}--all      rarer mutants, long schedules and more floods as well"]
        if name == "bench":
            lines.append(under + " ".join(BENCHES))
    return "\n".join([*lines, "", EXAMPLES])


def _refuse(text: str) -> int:
    print(text, file=sys.stderr)
    return STATUS_CANNOT_START


if __name__ == "__main__":
    sys.exit(main())
