"""What a process makes once, on first use, however many threads use it first.

`functools.cache` has each of these threads make its own, with connections and limits of its own.
"""

import functools
import threading
from collections.abc import Callable
from typing import TypeVar

Made = TypeVar("Made")


def once(make: Callable[[], Made]) -> Callable[[], Made]:
    """A function that returns the one result of `make`.

    First callers wait for the thread that runs `make`. Where `make` raises, that thread gets the
    error, and the next caller runs `make` again.
    """
    cached, lock = functools.cache(make), threading.RLock()

    @functools.wraps(make)
    def made() -> Made:
        with lock:
            return cached()

    return made
