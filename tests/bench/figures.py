"""What the measurements of latency share: percentiles, and how they are printed."""

import statistics
from collections.abc import Sequence


def p50(seconds: Sequence[float]) -> float:
    """The median."""
    return statistics.median(seconds)


def p99(seconds: Sequence[float]) -> float:
    """What all but one in a hundred stay below."""
    return statistics.quantiles(seconds, n=100, method="inclusive")[98]


def latencies(seconds: Sequence[float]) -> str:
    """Median and 99th percentile, in milliseconds, as columns."""
    return f"p50 {p50(seconds) * 1000:6.0f} ms, p99 {p99(seconds) * 1000:6.0f} ms"
