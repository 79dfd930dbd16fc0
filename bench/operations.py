"""Exact operations, which tests count (`costs.py`), and the price of a million.

The price in dollars includes Firestore's documents, tasks, and requests to functions at public
prices. It excludes CPU and memory, which depend on the load of an instance.
"""

from collections.abc import Iterator
from typing import Final

from bench.costs import COSTS, Cost
from bench.figures import Row
from bench.prices import AS_OF, READ, REQUEST, TASK, TASK_OPERATIONS, WRITE

WATCHED: Final = 15_000
SWEEP: Final = f"a sweep over {WATCHED:,} endpoints, 20 of each event, calculated"


def rows() -> Iterator[Row]:
    """Yield a row for each operation."""
    for name, cost in {**COSTS, SWEEP: _sweep_of_events(WATCHED // 20)}.items():
        counted = {
            "call": cost.rpcs,
            "read": cost.reads,
            "write": cost.writes,
            "task": cost.tasks,
            "POST": cost.posts,
            "email request": cost.mail_requests,
        }
        figure = ", ".join(
            f"{number:,} {unit}{'s' if number > 1 else ''}"
            for unit, number in counted.items()
            if number
        )
        yield Row(name, figure, reference=f"${dollars(cost):,.2f} a million, {AS_OF}")


def _sweep_of_events(count: int) -> Cost:
    """Return the cost of a sweep over `count` events. One call reads all records."""
    event = COSTS["a sweep over 20 endpoints of an event"]
    return Cost(
        rpcs=1 + count * (event.rpcs - 1), reads=count * event.reads, writes=count * event.writes
    )


def dollars(cost: Cost) -> float:
    """Return the price of a million operations: documents, tasks and requests to functions."""
    return (
        READ.of(cost.reads)
        + WRITE.of(cost.writes)
        + TASK.of(cost.tasks * TASK_OPERATIONS)
        + REQUEST.of(max(cost.posts, 1))
    ) * 1_000_000
