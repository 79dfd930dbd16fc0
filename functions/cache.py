"""What a process makes once, on first use."""

import functools
import threading
from collections.abc import Callable
from typing import Any, TypeVar

Made = TypeVar("Made")


def once(make: Callable[[], Made]) -> Callable[[], Made]:
    """A function that returns the one result of `make`.

    First callers wait for the thread that runs `make`; `functools.cache` has each of these threads
    make its own, with connections and limits of its own. Where `make` raises, that thread gets the
    error, and the next caller runs `make` again.
    """
    cached, lock = functools.cache(make), threading.RLock()

    @functools.wraps(make)
    def made() -> Made:
        with lock:
            return cached()

    return made


class made_once(functools.cached_property[Made]):  # noqa: N801 - a decorator
    """A cached property; threads that read it first wait for the thread that makes the value.

    The object has a `lock`, an RLock, for all of its properties.
    """

    def __get__(self, of: Any, owner: type | None = None) -> Made:  # type: ignore[override]
        """The value."""
        with of.lock:
            made: Made = super().__get__(of, owner)
            return made
