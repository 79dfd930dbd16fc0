"""Separate processes for measurements of CPU: the receivers and the reference loop."""

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
"""Path of the receiver that keeps its connections."""
CLOSES: Final = "/closes"
"""Path of the receiver that closes each connection, so that every delivery is the first one."""
_LOWEST_PRIORITY: Final = 19
"""The nice value with the lowest priority."""


@contextmanager
def peer(make: Callable[..., Any], *arguments: object) -> Iterator[Any]:
    """Create an object in a new process and yield a proxy. Its methods run in that process."""
    BaseManager.register("make", make)
    manager = BaseManager(ctx=multiprocessing.get_context("spawn"))
    # A session for each process, because Linux schedules sessions fairly (autogroup).
    manager.start(os.setsid)
    with manager:
        yield getattr(manager, "make")(*arguments)  # noqa: B009 - registered above


class Receivers:
    """HTTPS receivers that keep or close their connections."""

    def __init__(self) -> None:
        scripts = {KEEPS: always(), CLOSES: lambda _: Answer(headers={"Connection": "close"})}
        self._receiver = Receiver(certificates.SERVER, scripts=scripts)

    def address(self) -> str:
        """Return the URL without a path."""
        return self._receiver.url("")

    def connections(self) -> int:
        """Return the number of connections so far, and remove the recorded requests."""
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
        """Post `bodies` and return the CPU seconds."""
        started = time.process_time()
        for number, body in enumerate(bodies):
            headers = {
                "Content-Type": "application/json",
                SIGNATURE_HEADER: sign("whsec_bench", body, at=int(time.time())),
                "Wall-Delivery-Id": str(number),
            }
            self._session.post(self._url, data=body, headers=headers, timeout=5).raise_for_status()
        return time.process_time() - started


def tree_cpu(pid: int) -> float:
    """Return the CPU seconds of a process and its children."""
    root = psutil.Process(pid)
    times = [process.cpu_times() for process in (root, *root.children(recursive=True))]
    return sum(used.user + used.system for used in times)


def lower_priority(pid: int) -> None:
    """Give the lowest priority to a session leader and its children."""
    root = psutil.Process(pid)
    for process in (root, *root.children(recursive=True)):
        process.nice(_LOWEST_PRIORITY)
        if sys.platform == "linux":
            for thread in process.threads():
                os.sched_setscheduler(thread.id, os.SCHED_IDLE, os.sched_param(0))
    with suppress(OSError):  # without autogroups, nice alone decides
        Path(f"/proc/{pid}/autogroup").write_text(str(_LOWEST_PRIORITY))
