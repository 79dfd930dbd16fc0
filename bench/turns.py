"""What the measurements of CPU share: the receiver and the reference loop, each a process."""

import multiprocessing
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing.managers import BaseManager
from pathlib import Path
from typing import Any, Final

import psutil
import requests

from emulator import certificates
from emulator.receiver import Answer, Receiver, always
from functions.webhooks.signing import SIGNATURE_HEADER, sign

KEEPS: Final = "/keeps"
"""Path of the receiver that keeps connections."""
CLOSES: Final = "/closes"
"""Path of the receiver that closes each, so that every delivery is the first to it."""
_LAST: Final = 19
"""The nice value that gets least."""


@contextmanager
def peer(make: Callable[..., Any], *arguments: object) -> Iterator[Any]:
    """What `make` makes of `arguments` in a process of its own, where its methods run."""
    BaseManager.register("make", make)
    manager = BaseManager(ctx=multiprocessing.get_context("spawn"))
    # Linux shares the CPU out by sessions first (autogroup): each process has its own.
    manager.start(os.setsid)
    with manager:
        yield getattr(manager, "make")(*arguments)  # noqa: B009 - registered above


class Receivers:
    """Serves HTTPS."""

    def __init__(self) -> None:
        scripts = {KEEPS: always(), CLOSES: lambda _: Answer(headers={"Connection": "close"})}
        self._receiver = Receiver(certificates.SERVER, scripts=scripts)

    def address(self) -> str:
        """Where it listens."""
        return self._receiver.url("")

    def connections(self) -> int:
        """How many connections were made; its requests are forgotten."""
        self._receiver.forget()
        return self._receiver.connections


class Reference:
    """A loop that signs and posts to `url`."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._session = requests.Session()
        self._session.verify = str(certificates.CA)
        self._session.trust_env = False

    def post(self, bodies: Iterable[bytes]) -> float:
        """Post these; the seconds of CPU that it took."""
        began = time.process_time()
        for number, body in enumerate(bodies):
            headers = {
                "Content-Type": "application/json",
                SIGNATURE_HEADER: sign("whsec_bench", body, at=int(time.time())),
                "Wall-Delivery-Id": str(number),
            }
            self._session.post(self._url, data=body, headers=headers, timeout=5).raise_for_status()
        return time.process_time() - began


def tree_cpu(pid: int) -> float:
    """Seconds of CPU that a process and its children have used."""
    root = psutil.Process(pid)
    times = [process.cpu_times() for process in (root, *root.children(recursive=True))]
    return sum(used.user + used.system for used in times)


def make_way(pid: int) -> None:
    """Let a process that leads its session, and its children, have what CPU the others leave."""
    root = psutil.Process(pid)
    for process in (root, *root.children(recursive=True)):
        process.nice(_LAST)
        if sys.platform == "linux":
            for thread in process.threads():
                os.sched_setscheduler(thread.id, os.SCHED_IDLE, os.sched_param(0))
    with suppress(OSError):  # without autogroups, nice alone decides
        Path(f"/proc/{pid}/autogroup").write_text(str(_LAST))
