"""Percentiles, and the rows of the benchmarks' table."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median


@dataclass(frozen=True, slots=True)
class Row:
    """A figure, its maximum (the aim), and a reference that was measured in the same run."""

    name: str
    figure: str
    aim: str = ""
    reference: str = ""


def p99(seconds: Sequence[float]) -> float:
    """Return the 99th percentile."""
    return statistics.quantiles(seconds, n=100, method="inclusive")[98]


def spread(found: Sequence[float]) -> str:
    """Return the median and, in parentheses, the quartiles."""
    low, middle, high = statistics.quantiles(found, n=4)
    return f"{middle:.2f} ({low:.2f} to {high:.2f})"


def latencies(seconds: Sequence[float]) -> str:
    """Return the median and the 99th percentile, in milliseconds."""
    return f"p50 {median(seconds) * 1000:.0f} ms, p99 {p99(seconds) * 1000:.0f} ms"
