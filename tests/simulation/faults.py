"""Faults at calls of ports, and their probability in a schedule."""

from dataclasses import dataclass
from enum import Enum
from typing import Final, Self

from tests.simulation.choices import Choices


class Fault(Enum):
    """A fault at one call."""

    CRASH_BEFORE = "the instance crashes before the effect"
    CRASH_AFTER = "the instance crashes after the effect, before the answer"
    ERROR_BEFORE = "an error, and no effect"
    ERROR_AFTER = "an error after the effect"
    RETRIED_BEFORE = "an error and no effect; the adapter tries again"
    RETRIED_AFTER = "the answer is lost after the effect; the adapter tries again"
    PAUSE_BEFORE = "a pause before the effect"
    PAUSE_AFTER = "a pause after the effect"
    RESTART = "later work is assigned to a new instance"


EVERY: Final = tuple(Fault)
NEVER_RETRIED: Final = tuple(
    literal for literal in Fault if literal not in (Fault.RETRIED_BEFORE, Fault.RETRIED_AFTER)
)
"""Possible faults of a call that adapters don't retry."""
ENDS_OR_WAITS: Final = (Fault.CRASH_BEFORE, Fault.PAUSE_BEFORE, Fault.RESTART)
"""Possible faults of code that only waits."""

AT_MOST: Final = 60
"""Maximum number of faults in a schedule, so that every schedule ends."""

_CHANCES: Final = (0.0, 0.005, 0.02, 0.02, 0.06, 0.06, 0.15)
_SECONDS: Final = 1_000_000
_PAUSES: Final = (
    20_000,
    300_000,
    2 * _SECONDS,
    7 * _SECONDS,
    40 * _SECONDS,
    150 * _SECONDS,
    700 * _SECONDS,
    1200 * _SECONDS,
)
_HOUR: Final = 3600 * _SECONDS
_HOURS: Final = 0.03  # of all pauses


@dataclass(frozen=True, slots=True)
class FaultPlan:
    """Probability and kinds of faults in a schedule. Some schedules have no crashes."""

    chance: float
    kinds: tuple[Fault, ...]

    @classmethod
    def from_choices(cls, choices: Choices) -> Self:
        """Draw the plan of a schedule."""
        bits = choices.number("weather")
        kinds = tuple(kind for place, kind in enumerate(EVERY) if bits >> place & 1)
        return cls(_CHANCES[(bits >> 16) % len(_CHANCES)], kinds or EVERY)


def pause(bits: int) -> int:
    """Return the length of a pause in microseconds: up to 20 minutes, rarely an hour."""
    if bits % 1000 < _HOURS * 1000:
        return _HOUR
    longest = _PAUSES[(bits >> 10) % len(_PAUSES)]
    return longest // 4 + (bits >> 13) % longest * 3 // 4
