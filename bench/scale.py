"""Beyond one queue on paper: what floods do (`flood`), and what a million deliveries cost.

The random numbers have a seed, so that the tables come out the same everywhere. It needs no
emulator: `./venv/bin/python -m bench.scale` prints what stands in docs/internals/scale.md.
"""

import math
from collections.abc import Iterator
from typing import Final

from bench import estimate, flood, prices
from bench.costs import COSTS, Cost
from bench.operations import dollars

_MILLION: Final = 1_000_000
_GIB: Final = _MILLION / 1024**2
"""A million KiB."""


def bill() -> Iterator[str]:
    """The rows of the bill for a million."""
    upload = COSTS["a photo, a URL for photo.uploaded alone"]
    delivery = COSTS["a delivery that succeeds"]
    work = dollars(upload) + dollars(delivery)
    kept = prices.STORED_GIB_MONTH.of(estimate.RECORD_KIB * _GIB) + prices.DELETE.of(_MILLION)
    moved = prices.EVENT_GIB.of(2 * estimate.EVENT_KIB * _GIB)
    moved += prices.OUT_GIB.of(estimate.POST_KIB * _GIB)
    moved += prices.LOG_GIB.of(2 * estimate.LOG_KIB * _GIB)
    shared = (estimate.TRIGGER_CPU + estimate.ATTEMPT_CPU) / estimate.CPU_TARGET
    # An instance is billed while it has a request, in steps of 100 ms.
    waits = (estimate.TRIGGER_SECONDS, estimate.ATTEMPT_SECONDS)
    alone = sum(math.ceil(10 * seconds) / 10 for seconds in waits)
    busy, idle = (
        prices.CPU_SECOND.of(seconds * _MILLION)
        + prices.GIB_SECOND.of(seconds * _MILLION * estimate.GIB)
        for seconds in (shared, alone)
    )
    own = prices.WRITE.of(_MILLION) + prices.READ.of(_MILLION)
    reads, writes = upload.reads + delivery.reads, upload.writes + delivery.writes
    again = prices.READ.of(reads * _MILLION) + prices.WRITE.of(writes * _MILLION)
    failed = dollars(COSTS["a delivery that fails four times"]) - dollars(delivery)
    slow = dollars(Cost(reads=1, writes=1, tasks=1))
    instances = "$, on instances kept at 60 % | $, where no requests overlap"
    yield f"| a million, {prices.AS_OF} | {instances} |"
    yield "|---|---|---|"
    for name, *costs in (
        ("documents, tasks and requests of an upload with one URL, and of its delivery", work),
        ("the record, stored for 30 days and deleted", kept),
        ("the event on its way, the POST, the log", moved),
        ("CPU and memory of both", busy, idle),
        ("in all", work + kept + moved + busy, work + kept + moved + idle),
        ("on top: the guest's own write, and the event that the rules read for it", own),
        ("… a database in nam5, at twice the price of documents", again),
        ("… a worker moves it to the slow queue", slow),
        ("… it fails four times", failed),
    ):
        yield f"| {name} | {costs[0]:.2f} | {costs[-1]:.2f} |"


if __name__ == "__main__":
    print("\n".join([*flood.table(), "", *bill()]))
