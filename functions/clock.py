"""The clocks of a process, as what runs on them gets them."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime


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
