"""Decisions of a schedule: each is drawn from the seed and its own name, and can be taken back.

A draw does not depend on how many came before it. So a schedule from which one fault is dropped
keeps all others, as far as their actors still come to the same points.
"""

from collections.abc import Collection, Sequence
from hashlib import blake2b
from typing import Final, TypeVar

T = TypeVar("T")

_BITS: Final = 64


class Choices:
    """What one schedule decides.

    Attributes:
        deviations: What differed from a smooth run: under the name of each decision, what it was.
    """

    def __init__(self, seed: int, dropped: Collection[str] = ()) -> None:
        """Draw from `seed`; the decisions named in `dropped` take the plain course."""
        self._key = seed.to_bytes(16, signed=True)
        self._dropped = frozenset(dropped)
        self.deviations: dict[str, str] = {}

    def number(self, name: str) -> int:
        """64 bits that are the same for the same seed and name."""
        return int.from_bytes(blake2b(name.encode(), digest_size=8, key=self._key).digest())

    def fraction(self, name: str) -> float:
        """A number in [0, 1)."""
        return self.number(name) / (1 << _BITS)

    def between(self, name: str, low: int, high: int) -> int:
        """A whole number in [low, high]; no number counts as a deviation."""
        return low + self.number(name) % (high - low + 1)

    def one_of(self, name: str, options: Sequence[T]) -> T:
        """One of `options`, each as likely; none of them counts as a deviation."""
        return options[self.number(name) % len(options)]

    def happens(self, name: str, probability: float, what: str = "yes") -> bool:
        """Whether something happens that a smooth run does not have."""
        return self.fraction(name) < probability and self.deviates(name, what)

    def pick(self, name: str, options: Sequence[T]) -> T:
        """One of `options`, each as likely; the first is the plain one."""
        place = self.number(name) % len(options)
        if place and not self.deviates(name, str(options[place])):
            place = 0
        return options[place]

    def deviates(self, name: str, what: str) -> bool:
        """Record that `name` is decided as `what`; False where that was taken back."""
        if name in self._dropped:
            return False
        self.deviations[name] = what
        return True
