"""What the measurements share: percentiles, and how they are printed."""

import statistics
from collections.abc import Sequence


def p50(seconds: Sequence[float]) -> float:
    """The median."""
    return statistics.median(seconds)


def p99(seconds: Sequence[float]) -> float:
    """What all but one in a hundred stay below."""
    return statistics.quantiles(seconds, n=100, method="inclusive")[98]


def spread(found: Sequence[float]) -> str:
    """The median and, in brackets, the quartiles."""
    low, middle, high = statistics.quantiles(found, n=4)
    return f"{middle:5.2f} ({low:.2f} to {high:.2f})"


def latencies(seconds: Sequence[float]) -> str:
    """Median and 99th percentile, in milliseconds, as columns."""
    return f"p50 {p50(seconds) * 1000:6.0f} ms, p99 {p99(seconds) * 1000:6.0f} ms"
