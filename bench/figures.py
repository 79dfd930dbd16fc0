"""What the experiments share: percentiles, and the rows of the one table that they fill."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median


@dataclass(frozen=True, slots=True)
class Row:
    """A figure, what it is to be at most, and what was measured in the same run to compare with."""

    what: str
    figure: str
    aim: str = ""
    reference: str = ""


def p99(seconds: Sequence[float]) -> float:
    """What all but one in a hundred stay below."""
    return statistics.quantiles(seconds, n=100, method="inclusive")[98]


def spread(found: Sequence[float]) -> str:
    """The median and, in brackets, the quartiles."""
    low, middle, high = statistics.quantiles(found, n=4)
    return f"{middle:.2f} ({low:.2f} to {high:.2f})"


def latencies(seconds: Sequence[float]) -> str:
    """Median and 99th percentile, in milliseconds."""
    return f"p50 {median(seconds) * 1000:.0f} ms, p99 {p99(seconds) * 1000:.0f} ms"
