"""The commands of the command line. They run after the installation."""

import os
import shutil
from collections.abc import Sequence

from emulator.cloud.local_cloud import LOG, LocalCloud, NotStartedError
from emulator.firebase import read_addresses
from emulator.ports import check_ports
from tools import checks
from tools.processes import ProcessTree
from tools.steps import say

STATUS_FAILED = 1


def run(command: str, arguments: Sequence[str]) -> int:
    """Run a command of the command line and return its exit status.

    Raises:
        SetupError: The user must install or free something.
    """
    if command == "setup":
        say("Everything is installed.")  # the command line did it before any command
        return 0
    if command == "generate":
        from tools import generate  # noqa: PLC0415 - needed by one command only

        return generate.run(check="--check" in arguments)
    try:
        with ProcessTree() as tree:
            return _run_in(tree, command, arguments)
    except NotStartedError as error:
        say(str(error))
        return STATUS_FAILED


def _run_in(tree: ProcessTree, command: str, arguments: Sequence[str]) -> int:
    if command == "exec":
        return _exec(tree, arguments)
    if command == "bench":
        with LocalCloud() as cloud:
            return tree.run(["python", "-m", "bench", *arguments], cloud.environment)
    if command == "test":
        return checks.run(tree, arguments, LocalCloud, lambda: check_ports(read_addresses()))
    return _demo() if command == "demo" else _up()


def _exec(tree: ProcessTree, arguments: Sequence[str]) -> int:
    cloud = LocalCloud(warm=True)
    if shutil.which(arguments[0], path=cloud.environment["PATH"]) is None:
        return tree.run(arguments, cloud.environment)  # prints the error without a start
    with cloud:
        return tree.run(arguments, cloud.environment)


def _demo() -> int:
    # Needed by one command only, and slow to import.
    from emulator import demo, stand_ins  # noqa: PLC0415

    with stand_ins.started(demo.show) as started, LocalCloud(warm=True) as cloud:
        os.environ.update(cloud.environment)  # for clients in this process
        return demo.run(started)


def _up() -> int:
    from emulator import stand_ins, up  # noqa: PLC0415

    with (
        stand_ins.started(up.print_request) as started,
        LocalCloud(warm=True, on_print=up.print_line) as cloud,
    ):
        os.environ.update(cloud.environment)
        print(up.begin(cloud, started), flush=True)
        cloud.ended.wait()
        say(f"An emulator stopped unexpectedly. See {LOG}.")
        return STATUS_FAILED
