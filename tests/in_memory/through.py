"""The hook through which adapters in memory call their services, and the failures of a call."""

from collections.abc import Callable
from typing import Protocol, TypeVar

T = TypeVar("T")


class Crash(BaseException):
    """The instance stopped. It is a `BaseException`, so the code under test cannot catch it."""


class ServiceError(Exception):
    """A service answered with an error, or its answer was lost, and the adapter stopped trying."""


class Through(Protocol):
    """Runs the effect of a call: at once, or at the time that a scheduler chooses."""

    def __call__(self, what: str, effect: Callable[[], T], *, retried: bool = True) -> T:
        """Run `effect` under the name `what`. Return its answer, or raise its error.

        Args:
            what: Name of the call.
            effect: The service's part of the call. It is atomic.
            retried: Whether the real adapter repeats a call whose answer was lost.
        """


def at_once(what: str, effect: Callable[[], T], *, retried: bool = True) -> T:  # noqa: ARG001
    """Run `effect` at once, for tests without a scheduler."""
    return effect()
