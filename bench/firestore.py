"""A Firestore of an experiment's own: the emulator, without rules and without triggers.

The suite's has every photo handed to the triggers, one after the other: many thousand take minutes.
"""

import os
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from emulator.environment import cached_firestore_jar, firestore_jar, tool_environment

_START_SECONDS: Final = 60
_UP: Final = "is now running"


@contextmanager
def own_firestore(*options: str) -> Iterator[None]:
    """Run a Firestore of this bench's own; all clients made meanwhile in this process use it.

    `options` are Java's.
    """
    environment = tool_environment(os.environ)
    jar = firestore_jar(environment) or cached_firestore_jar()
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [
            *("java", "-Duser.language=en", *options),
            *("-jar", str(jar), "--host=127.0.0.1", f"--port={port}"),
        ],
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,  # whose CPU the scheduler shares out, see `turns`
    )
    output: list[str] = []
    settled = threading.Event()
    reader = threading.Thread(target=_read, args=(process, output, settled))
    reader.start()
    suite = os.environ["FIRESTORE_EMULATOR_HOST"]
    try:
        settled.wait(_START_SECONDS)
        if process.poll() is not None or not any(_UP in line for line in output):
            raise RuntimeError(f"Firestore did not start:\n{''.join(output)}")
        os.environ["FIRESTORE_EMULATOR_HOST"] = f"127.0.0.1:{port}"
        yield
    finally:
        os.environ["FIRESTORE_EMULATOR_HOST"] = suite
        process.kill()
        process.wait()
        reader.join()


def _read(process: subprocess.Popen[str], output: list[str], settled: threading.Event) -> None:
    assert process.stdout
    with process.stdout as lines:
        for line in lines:
            output.append(line)
            if _UP in line:
                settled.set()
    settled.set()
