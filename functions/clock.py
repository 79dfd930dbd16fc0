"""The clocks of a process, and times on the wire."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime


@dataclass(frozen=True, slots=True)
class Clock:
    """A process's time.

    Attributes:
        now: The time, aware and in UTC.
        monotonic: Seconds that only grow; they may begin at zero.
        sleep: Waits for some seconds.
    """

    now: Callable[[], datetime]
    monotonic: Callable[[], float]
    sleep: Callable[[float], None]


def wire_time(moment: datetime) -> str:
    """`2026-05-01T18:30:00.000Z` for an aware `moment`, truncated to milliseconds."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
