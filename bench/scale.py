"""Beyond one queue on paper: what floods do (`flood`), and what a million deliveries cost.

The random numbers have a seed, so that the tables come out the same everywhere. It needs no
emulator: `./venv/bin/python -m bench.scale` prints what stands in docs/scale.md.
"""

from collections.abc import Iterator
from typing import Final

from bench import flood
from bench.costs import COSTS, Cost
from bench.estimate import (
    ATTEMPT_CPU,
    CPU_TARGET,
    EVENT_KIB,
    GIB,
    LOG_KIB,
    POST_KIB,
    RECORD_KIB,
    TRIGGER_CPU,
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
    STORED_GIB_MONTH,
)

_MILLION: Final = 1_000_000
_KIB_PER_GIB: Final = 1024**2


def bill() -> Iterator[str]:
    """The rows of the bill for a million."""
    upload, delivery = (
        COSTS["a photo, a URL for photo.uploaded alone"],
        COSTS["a delivery that succeeds"],
    )
    both = _MILLION * (TRIGGER_CPU + ATTEMPT_CPU) / CPU_TARGET
    kept = RECORD_KIB / _KIB_PER_GIB * _MILLION
    rows = {
        "documents, tasks and requests of an upload with one URL, and of its delivery": (
            dollars(upload) + dollars(delivery)
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
    for name, cost in rows.items():
        yield f"| {name} | {cost:.2f} |"
    yield f"| in all | {sum(rows.values()):.2f} |"
    moved = Cost(reads=1, writes=1, tasks=1)
    yield f"| on top: a worker moves it to the slow queue | {dollars(moved):.2f} |"
    failed = dollars(COSTS["a delivery that fails four times"]) - dollars(delivery)
    yield f"| … it fails four times | {failed:.2f} |"


def main() -> None:
    """Print the tables."""
    print("\n".join([*flood.table(), "", *bill()]))


if __name__ == "__main__":
    main()
