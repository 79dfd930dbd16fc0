"""What the measurements of CPU share: the receiver and the reference loop, each a process."""

import multiprocessing
import os
import resource
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Final

import psutil
import requests

from emulator import certificates
from emulator.receiver import Answer, Receiver, always
from functions.webhooks.signing.signature import HEADER, sign

KEEPS: Final = "/keeps"
"""Path of the receiver that keeps connections."""

CLOSES: Final = "/closes"
"""Path of the receiver that closes each, so that every delivery is the first to it."""

_LAST: Final = 19
"""The nice value that gets least."""

_SPAWN: Final = multiprocessing.get_context("spawn")


class Peer:
    """A process that does what it is asked."""

    def __init__(self, target: Callable[..., None], *arguments: object) -> None:
        self._pipe, theirs = _SPAWN.Pipe()
        self._process = _SPAWN.Process(target=_run, args=(target, theirs, *arguments), daemon=True)
        self._process.start()
        theirs.close()

    def ask(self, question: object) -> Any:
        """Send a question and wait for the answer."""
        self._pipe.send(question)
        return self._pipe.recv()

    def end(self) -> None:
        """End the process."""
        self._pipe.close()
        self._process.join()


def _run(target: Callable[..., None], *arguments: object) -> None:
    # Linux shares the CPU out by sessions first (autogroup): each process has its own.
    os.setsid()
    target(*arguments)


@contextmanager
def peer(target: Callable[..., None], *arguments: object) -> Iterator[Peer]:
    """Run `target` in a process of its own, given a pipe and `arguments`."""
    started = Peer(target, *arguments)
    try:
        yield started
    finally:
        started.end()


def receive(pipe: Connection) -> None:
    """Serve HTTPS; answers `port` and `connections`."""
    scripts = {KEEPS: always(), CLOSES: lambda _: Answer(headers={"Connection": "close"})}
    with Receiver(certificates.SERVER, scripts=scripts) as receiver, until_closed():
        while True:
            question = pipe.recv()
            receiver.forget()
            pipe.send(getattr(receiver, question))


def sign_and_post(pipe: Connection, url: str) -> None:
    """The reference: sign and post the bodies that are sent; answers its seconds of CPU."""
    with requests.Session() as session, until_closed():
        session.verify = str(certificates.CA)
        session.trust_env = False
        while True:
            bodies: list[bytes] = pipe.recv()
            began = own_cpu()
            for number, body in enumerate(bodies):
                headers = {
                    "Content-Type": "application/json",
                    HEADER: sign("whsec_bench", body, at=int(time.time())),
                    "Wall-Delivery-Id": str(number),
                }
                session.post(url, data=body, headers=headers, timeout=5).raise_for_status()
            pipe.send(own_cpu() - began)


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


@contextmanager
def until_closed() -> Iterator[None]:
    """Go on until the asking process hangs up."""
    with suppress(EOFError):
        yield


def own_cpu() -> float:
    """Seconds of CPU that this process has used."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime
