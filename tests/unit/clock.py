"""A clock that stands still until a test sets it."""

from dataclasses import dataclass


@dataclass(slots=True)
class Clock:
    """Seconds that pass when a test says so."""

    now: float = 1000.0

    def __call__(self) -> float:
        """Seconds."""
        return self.now
