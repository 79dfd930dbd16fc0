"""The simulated flood of bench/flood.py: the delay of other events."""

import os
from statistics import median
from typing import Final

from bench import flood
from bench.figures import p99
from tools.command_list import ALL_VARIABLE

CASES: Final = flood.CASES if ALL_VARIABLE in os.environ else flood.CASES[:2]


def test_a_flood_delays_other_events_by_at_most_half() -> None:
    """Without any one of the three queues and limits, the delay is larger."""
    alone = flood.late(flood.CASES[0])
    for case in CASES[1:]:
        late = flood.late(case)
        times = max(
            figure(late[url]) / figure(alone[url])
            for figure in (median, p99)
            for url in (flood.GOOD, flood.FLAKY)
        )
        complete = case.fair_queue and case.slow_queue and case.fast_slots
        assert (times <= 1.5) == complete or not case.slow_fair_queue, case.name
