"""Calculated tables of docs/internals/scale.md: floods (`flood`), and the cost of a million.

`./venv/bin/python -m bench.scale` prints the tables without an emulator. The random numbers have a
seed, so that the tables are the same everywhere.
"""

import math
from collections.abc import Iterator
from typing import Final

from bench import assumptions, flood, prices
from bench.costs import COSTS, Cost
from bench.operations import dollars

_MILLION: Final = 1_000_000
_GIB: Final = _MILLION / 1024**2
"""A million KiB in GiB."""


def bill() -> Iterator[str]:
    """Yield the rows of the bill for a million uploads with their deliveries."""
    upload = COSTS["a photo, a URL for photo.uploaded only"]
    delivery = COSTS["a delivery that succeeds"]
    work = dollars(upload) + dollars(delivery)
    kept = prices.STORED_GIB_MONTH.of(assumptions.RECORD_KIB * _GIB) + prices.DELETE.of(_MILLION)
    moved = prices.EVENT_GIB.of(2 * assumptions.EVENT_KIB * _GIB)
    moved += prices.OUT_GIB.of(assumptions.POST_KIB * _GIB)
    moved += prices.LOG_GIB.of(2 * assumptions.LOG_KIB * _GIB)
    shared = (assumptions.TRIGGER_CPU + assumptions.ATTEMPT_CPU) / assumptions.CPU_TARGET
    # An instance is billed during its requests, in steps of 100 ms.
    waits = (assumptions.TRIGGER_SECONDS, assumptions.ATTEMPT_SECONDS)
    alone = sum(math.ceil(10 * seconds) / 10 for seconds in waits)
    busy, idle = (
        prices.CPU_SECOND.of(seconds * _MILLION)
        + prices.GIB_SECOND.of(seconds * _MILLION * assumptions.GIB)
        for seconds in (shared, alone)
    )
    own = prices.WRITE.of(_MILLION) + prices.READ.of(_MILLION)
    reads, writes = upload.reads + delivery.reads, upload.writes + delivery.writes
    again = prices.READ.of(reads * _MILLION) + prices.WRITE.of(writes * _MILLION)
    failed = dollars(COSTS["a delivery that fails four times"]) - dollars(delivery)
    slow = dollars(Cost(reads=1, writes=1, tasks=1))
    instances = "$, on instances kept at 60 % | $, if no requests overlap"
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
