"""Random decisions of a schedule. Each one depends only on the seed and its name.

A decision does not depend on earlier ones. If one fault is dropped from a schedule, all other
faults stay, as long as their actors reach the same points.
"""

from collections.abc import Collection, Sequence
from hashlib import blake2b
from typing import Final, TypeVar

T = TypeVar("T")

_BITS: Final = 64


class Choices:
    """The decisions of one schedule.

    Attributes:
        deviations: Descriptions of the deviations from the plain course, by the decision's name.
    """

    def __init__(self, seed: int, dropped: Collection[str] = ()) -> None:
        """Draw from `seed`. The decisions named in `dropped` take the plain course."""
        self._key = seed.to_bytes(16, signed=True)
        self._dropped = frozenset(dropped)
        self.deviations: dict[str, str] = {}

    def number(self, name: str) -> int:
        """Return 64 bits that depend on the seed and the name."""
        return int.from_bytes(blake2b(name.encode(), digest_size=8, key=self._key).digest())

    def fraction(self, name: str) -> float:
        """Return a number in [0, 1)."""
        return self.number(name) / (1 << _BITS)

    def between(self, name: str, low: int, high: int) -> int:
        """Return an integer in [low, high]. No number counts as a deviation."""
        return low + self.number(name) % (high - low + 1)

    def one_of(self, name: str, options: Sequence[T]) -> T:
        """Return one of `options` with equal probability. None of them counts as a deviation."""
        return options[self.number(name) % len(options)]

    def happens(self, name: str, probability: float, what: str = "yes") -> bool:
        """Return whether a deviation from the plain course happens."""
        return self.fraction(name) < probability and self.deviates(name, what)

    def pick(self, name: str, options: Sequence[T]) -> T:
        """Return one of `options` with equal probability. The first one is the plain course."""
        place = self.number(name) % len(options)
        if place and not self.deviates(name, str(options[place])):
            place = 0
        return options[place]

    def deviates(self, name: str, what: str) -> bool:
        """Record a deviation. Return False if it is dropped."""
        if name in self._dropped:
            return False
        self.deviations[name] = what
        return True
