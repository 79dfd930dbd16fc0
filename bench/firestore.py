"""A separate Firestore emulator for a benchmark, without rules and triggers.

The suite's emulator passes every photo to the triggers, one after another. That takes minutes for
thousands of photos.
"""

import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from emulator.cloud.program import Program
from tools.installation import tool_environment
from tools.java import cached_firestore_jar, firestore_jar

_START_SECONDS: Final = 60


@contextmanager
def own_firestore(*options: str) -> Iterator[None]:
    """Run a separate Firestore emulator. Clients that this process creates meanwhile use it.

    `options` are options of Java.
    """
    environment = tool_environment(os.environ)
    jar = firestore_jar(environment) or cached_firestore_jar()
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = f"127.0.0.1:{free.getsockname()[1]}"
    output: list[str] = []
    program = Program(
        [
            *("java", "-Duser.language=en", *options, "-jar", str(jar)),
            *("--host=127.0.0.1", f"--port={address.rpartition(':')[2]}"),
        ],
        environment,
        "is now running",
        output.append,
        threading.Event(),
    )
    suite = os.environ["FIRESTORE_EMULATOR_HOST"]
    try:
        if not program.is_ready_within(_START_SECONDS):
            raise RuntimeError(f"Firestore did not start:\n{''.join(output)}")
        os.environ["FIRESTORE_EMULATOR_HOST"] = address
        yield
    finally:
        os.environ["FIRESTORE_EMULATOR_HOST"] = suite
        program.end()
