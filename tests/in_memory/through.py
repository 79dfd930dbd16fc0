"""How an adapter in memory calls its service, and how a call can end."""

from collections.abc import Callable
from typing import Protocol, TypeVar

T = TypeVar("T")


class Crash(BaseException):
    """The instance is gone. No `except Exception` of the code under test may hold it up."""


class ServiceError(Exception):
    """A service answered with an error, or its answer was lost; the adapter has given up."""


class Through(Protocol):
    """How an adapter in memory has its effect: at once, or at the time that a schedule finds."""

    def __call__(self, what: str, effect: Callable[[], T], *, retried: bool = True) -> T:
        """Have `effect`, under the name `what`; its answer, or what it raises.

        Args:
            what: Name of the call.
            effect: What the service does, at one moment.
            retried: Whether the real adapter tries again what may have worked.
        """


def at_once(what: str, effect: Callable[[], T], *, retried: bool = True) -> T:  # noqa: ARG001
    """A service that is always there; for tests without a schedule."""
    return effect()
