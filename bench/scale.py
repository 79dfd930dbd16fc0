"""Beyond one queue on paper: what floods do (`flood`), and what a million deliveries cost.

The random numbers have a seed, so that the tables come out the same everywhere. It needs no
emulator: `./venv/bin/python -m bench.scale` prints what stands in docs/scale.md.
"""

import math
from collections.abc import Iterator
from typing import Final

from bench import flood
from bench.costs import COSTS, Cost
from bench.estimate import (
    ATTEMPT_CPU,
    ATTEMPT_SECONDS,
    CPU_TARGET,
    EVENT_KIB,
    GIB,
    LOG_KIB,
    POST_KIB,
    RECORD_KIB,
    TRIGGER_CPU,
    TRIGGER_SECONDS,
)
from bench.operations import dollars
from bench.prices import (
    AS_OF,
    CPU_SECOND,
    DELETE,
    EVENT_GIB,
    GIB_SECOND,
    LOG_GIB,
    OUT_GIB,
    READ,
    STORED_GIB_MONTH,
    WRITE,
)

_MILLION: Final = 1_000_000
_KIB_PER_GIB: Final = 1024**2


def bill() -> Iterator[str]:
    """The rows of the bill for a million."""
    upload, delivery = (
        COSTS["a photo, a URL for photo.uploaded alone"],
        COSTS["a delivery that succeeds"],
    )
    kept = RECORD_KIB / _KIB_PER_GIB * _MILLION
    rows = {
        "documents, tasks and requests of an upload with one URL, and of its delivery": (
            dollars(upload) + dollars(delivery)
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
    # An instance is billed while it has a request, in steps of 100 ms.
    alone = sum(math.ceil(10 * seconds) / 10 for seconds in (TRIGGER_SECONDS, ATTEMPT_SECONDS))
    instances = [
        CPU_SECOND.of(seconds) + GIB_SECOND.of(seconds * GIB)
        for seconds in (_MILLION * (TRIGGER_CPU + ATTEMPT_CPU) / CPU_TARGET, _MILLION * alone)
    ]
    yield f"| a million, {AS_OF} | $, on instances kept at 60 % | $, where no requests overlap |"
    yield "|---|---|---|"
    for name, cost in rows.items():
        yield f"| {name} | {cost:.2f} | {cost:.2f} |"
    yield f"| CPU and memory of both | {instances[0]:.2f} | {instances[1]:.2f} |"
    whole = [sum(rows.values()) + cost for cost in instances]
    yield f"| in all | {whole[0]:.2f} | {whole[1]:.2f} |"
    failed = dollars(COSTS["a delivery that fails four times"]) - dollars(delivery)
    reads, writes = upload.reads + delivery.reads, upload.writes + delivery.writes
    more = {
        "on top: the guest's own write, and the event that the rules read for it": (
            WRITE.of(_MILLION) + READ.of(_MILLION)
        ),
        "… a database in nam5, at twice the price of documents": (
            READ.of(reads * _MILLION) + WRITE.of(writes * _MILLION)
        ),
        "… a worker moves it to the slow queue": dollars(Cost(reads=1, writes=1, tasks=1)),
        "… it fails four times": failed,
    }
    for name, cost in more.items():
        yield f"| {name} | {cost:.2f} | {cost:.2f} |"


def main() -> None:
    """Print the tables."""
    print("\n".join([*flood.table(), "", *bill()]))


if __name__ == "__main__":
    main()
