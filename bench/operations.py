"""Operations, exactly: what the tests count (`costs.py`), and what a million costs.

Dollars are Firestore's documents, tasks, and requests of functions, by public prices. What CPU and
memory cost depends on how busy an instance is.
"""

from collections.abc import Iterator
from typing import Final

from bench.costs import COSTS, Cost
from bench.figures import Row
from bench.prices import AS_OF, READ, REQUEST, TASK, TASK_OPERATIONS, WRITE

WATCHED: Final = 15_000
SWEEP: Final = f"a sweep over {WATCHED:,} endpoints, 20 of each event, calculated"


def rows() -> Iterator[Row]:
    """A row for each piece of work."""
    for what, cost in {**COSTS, SWEEP: _of_events(WATCHED // 20)}.items():
        counted = {
            "calls": cost.rpcs,
            "reads": cost.reads,
            "writes": cost.writes,
            "tasks": cost.tasks,
            "POSTs": cost.posts,
            "mail requests": cost.mail_requests,
        }
        figure = ", ".join(f"{number:,} {name}" for name, number in counted.items() if number)
        yield Row(what, figure, reference=f"${dollars(cost):,.2f} a million, {AS_OF}")


def _of_events(count: int) -> Cost:
    """A sweep over the endpoints of so many events: the records come with one call."""
    of_one = COSTS["a sweep over 20 endpoints of an event"]
    return Cost(
        rpcs=1 + count * (of_one.rpcs - 1), reads=count * of_one.reads, writes=count * of_one.writes
    )


def dollars(cost: Cost) -> float:
    """Of a million: documents, tasks, and the requests that start the work."""
    return (
        READ.of(cost.reads)
        + WRITE.of(cost.writes)
        + TASK.of(cost.tasks * TASK_OPERATIONS)
        + REQUEST.of(max(cost.posts, 1))
    ) * 1_000_000
