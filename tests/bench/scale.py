"""Beyond 500 a second on paper: how late first attempts are with 1, 2 and 4 queues; what it costs.

A model, not a measurement: uploads of one tenant come at random (Poisson) and have 20 deliveries
each; each of those goes to one of the tenant's queues by its name; and a queue dispatches in order,
500 a second, 100 at once after a pause, and 1,600 at a time (`.env`, and
https://cloud.google.com/tasks/docs/quotas). An attempt takes 0.36 s, more or less (exponential),
and one receiver in fifty is silent for five seconds. The random numbers have a seed, so that the
tables come out the same everywhere. It needs no emulator: `./venv/bin/python -m tests.bench.scale`
prints what stands in docs/scale.md.
"""

import heapq
import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from emulator.cloud.dispatcher import BURST_SECONDS
from functions.webhooks.deliveries.first_queues import ORDINARY
from functions.webhooks.endpoints.http_sender import TIMEOUT_SECONDS
from tests.bench import flood
from tests.bench.estimate import (
    ATTEMPT_CPU,
    ATTEMPT_SECONDS,
    CPU_TARGET,
    DISPATCHES,
    EVENT_KIB,
    GIB,
    LOG_KIB,
    PLACES,
    POST_KIB,
    RECORD_KIB,
    TRIGGER_CPU,
)
from tests.bench.figures import p50, p99
from tests.bench.prices import (
    AS_OF,
    CPU_SECOND,
    DELETE,
    EVENT_GIB,
    GIB_SECOND,
    LOG_GIB,
    OUT_GIB,
    READ,
    REQUEST,
    STORED_GIB_MONTH,
    TASK,
    TASK_OPERATIONS,
    WRITE,
)
from tests.suite.costs import COSTS, Cost

SEED: Final = 500
SECONDS: Final = 60.0
RATES: Final = (250, 450, 600, 900, 1800)
URLS: Final = 20
QUEUES: Final = (1, 2, len(ORDINARY))
SILENT: Final = 0.02

_MILLION: Final = 1_000_000
_KIB_PER_GIB: Final = 1024**2


@dataclass(frozen=True, slots=True)
class Minute:
    """A minute of so many first attempts a second.

    Dispatches a second; the median and the 99th percentile of the waits, in seconds, until all have
    begun; and how many wait at its end.
    """

    dispatched: float
    median: float
    late: float
    waiting: int


class Queue:
    """A queue of Cloud Tasks: in order, so many a second, so many at a time."""

    def __init__(self) -> None:
        self._next = 0.0
        self._at_work: list[float] = []

    def begin(self, arrived: float, seconds: float) -> float:
        """When a task begins that `arrived` last and is at work for so many seconds."""
        begins = max(arrived, self._next - BURST_SECONDS)
        if len(self._at_work) == PLACES.limit:
            begins = max(begins, heapq.heappop(self._at_work))
        while self._at_work and self._at_work[0] <= begins:
            heapq.heappop(self._at_work)
        heapq.heappush(self._at_work, begins + seconds)
        self._next = max(self._next, begins) + 1 / DISPATCHES.limit
        return begins


def minute(rate: float, queues: int) -> Minute:
    """What becomes of `rate` first attempts a second on so many queues."""
    chance = random.Random(SEED)  # noqa: S311 - chance, not a secret
    there = [Queue() for _ in range(queues)]
    moment, delays, begun = 0.0, [], 0
    while (moment := moment + chance.expovariate(rate / URLS)) < SECONDS:
        for _ in range(URLS):
            silent = chance.random() < SILENT
            seconds = TIMEOUT_SECONDS if silent else chance.expovariate(1 / ATTEMPT_SECONDS)
            begins = there[int(chance.random() * queues)].begin(moment, seconds)
            delays.append(begins - moment)
            begun += begins < SECONDS
    return Minute(begun / SECONDS, p50(delays), p99(delays), len(delays) - begun)


def table() -> Iterator[str]:
    """The rows of the simulation in docs/scale.md."""
    yield (
        "| first attempts a second | queues | dispatched a second | wait in s: median, p99 "
        "| waiting after a minute |"
    )
    yield "|---|---|---|---|---|"
    for rate in RATES:
        for queues in QUEUES:
            one = minute(rate, queues)
            yield (
                f"| {rate:,} | {queues} | {one.dispatched:,.0f} | {one.median:.2f}, {one.late:.2f}"
                f" | {one.waiting:,} |"
            )


def bill() -> Iterator[str]:
    """The rows of what a million costs."""
    upload, delivery = (
        COSTS["a photo, a URL for photo.uploaded alone"],
        COSTS["a delivery that succeeds"],
    )
    both = _MILLION * (TRIGGER_CPU + ATTEMPT_CPU) / CPU_TARGET
    kept = RECORD_KIB / _KIB_PER_GIB * _MILLION
    rows = {
        "documents, tasks and requests of an upload with one URL, and of its delivery": (
            _operations(upload) + _operations(delivery)
        ),
        "CPU and memory of both, on instances kept at 60 %": (
            CPU_SECOND.of(both) + GIB_SECOND.of(both * GIB)
        ),
        "the record, stored for 30 days and deleted": (
            STORED_GIB_MONTH.of(kept) + DELETE.of(_MILLION)
        ),
        "the event on its way, the POST, the log": (
            EVENT_GIB.of(2 * EVENT_KIB / _KIB_PER_GIB * _MILLION)
            + OUT_GIB.of(POST_KIB / _KIB_PER_GIB * _MILLION)
            + LOG_GIB.of(2 * LOG_KIB / _KIB_PER_GIB * _MILLION)
        ),
    }
    yield f"| a million, {AS_OF} | $ |"
    yield "|---|---|"
    for name, dollars in rows.items():
        yield f"| {name} | {dollars:.2f} |"
    yield f"| in all | {sum(rows.values()):.2f} |"
    yield "| on top: the trigger puts a first attempt on another queue | 0.00 |"
    sent_on = Cost(reads=1, tasks=1)
    yield f"| … a worker sends it on to the slow queue | {_operations(sent_on):.2f} |"
    failed = _operations(COSTS["a delivery that fails four times"]) - _operations(delivery)
    yield f"| … it fails four times | {failed:.2f} |"


def _operations(cost: Cost) -> float:
    """Dollars for a million: documents, tasks, and the requests that start the work."""
    return (
        READ.of(cost.reads)
        + WRITE.of(cost.writes)
        + TASK.of(cost.tasks * TASK_OPERATIONS)
        + REQUEST.of(max(cost.posts, 1))
    ) * _MILLION


def main() -> None:
    """Print the tables."""
    print("\n".join([*table(), "", *flood.table(), "", *bill()]))


if __name__ == "__main__":
    main()
