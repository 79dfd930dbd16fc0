"""What can go wrong at a call of a port, and how often it does in one schedule."""

from dataclasses import dataclass
from enum import Enum
from typing import Final, Self

from tests.simulation.choices import Choices


class Fault(Enum):
    """One thing that goes wrong at one call."""

    CRASH_BEFORE = "the instance crashes before the effect"
    CRASH_AFTER = "the instance crashes after the effect, before the answer"
    ERROR_BEFORE = "an error, and no effect"
    ERROR_AFTER = "an error after the effect"
    RETRIED_BEFORE = "an error and no effect; the adapter tries again"
    RETRIED_AFTER = "the answer is lost after the effect; the adapter tries again"
    PAUSE_BEFORE = "a pause before the effect"
    PAUSE_AFTER = "a pause after the effect"
    RESTART = "what comes next goes to a fresh instance"


EVERY: Final = tuple(Fault)
NEVER_RETRIED: Final = tuple(
    literal for literal in Fault if literal not in (Fault.RETRIED_BEFORE, Fault.RETRIED_AFTER)
)
"""What can happen to a call that no adapter makes twice."""
ENDS_OR_WAITS: Final = (Fault.CRASH_BEFORE, Fault.PAUSE_BEFORE, Fault.RESTART)
"""What can happen to code that only waits."""

AT_MOST: Final = 60
"""Faults of one schedule: what fails for ever comes to no rest."""

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
class Weather:
    """How often a call of a schedule goes wrong, and in which ways: some know no crash at all."""

    chance: float
    kinds: tuple[Fault, ...]

    @classmethod
    def of(cls, choices: Choices) -> Self:
        """The weather of a schedule."""
        bits = choices.number("weather")
        kinds = tuple(kind for place, kind in enumerate(EVERY) if bits >> place & 1)
        return cls(_CHANCES[(bits >> 16) % len(_CHANCES)], kinds or EVERY)


def pause(bits: int) -> int:
    """How long a pause is, in microseconds: milliseconds to twenty minutes, rarely an hour."""
    if bits % 1000 < _HOURS * 1000:
        return _HOUR
    longest = _PAUSES[(bits >> 10) % len(_PAUSES)]
    return longest // 4 + (bits >> 13) % longest * 3 // 4
