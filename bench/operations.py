"""Operations, exactly: what the tests count (`costs.py`), and what a million costs.

Dollars are Firestore's documents, tasks, and requests of functions, by public prices. What CPU and
memory cost depends on how busy an instance is.
"""

from collections.abc import Iterator

from bench.costs import COSTS, Cost
from bench.figures import Row
from bench.prices import AS_OF, READ, REQUEST, TASK, TASK_OPERATIONS, WRITE


def rows() -> Iterator[Row]:
    """A row for each piece of work."""
    for what, cost in COSTS.items():
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


def dollars(cost: Cost) -> float:
    """Of a million: documents, tasks, and the requests that start the work."""
    return (
        READ.of(cost.reads)
        + WRITE.of(cost.writes)
        + TASK.of(cost.tasks * TASK_OPERATIONS)
        + REQUEST.of(max(cost.posts, 1))
    ) * 1_000_000
