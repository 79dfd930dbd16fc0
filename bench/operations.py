"""Operations, exactly: what the tests count, checked now, and what a million costs.

The numbers stand in `tests/suite/costs.py`; the tests that hold them are run first. Dollars are for
a million: Firestore's documents, tasks, and requests of functions, by public prices. What CPU and
memory cost depends on how busy an instance is, and is left to `load`.
"""

import subprocess
import sys
from typing import Final

from bench.prices import AS_OF, READ, REQUEST, TASK, TASK_OPERATIONS, WRITE
from tests.suite.costs import COSTS, Cost

TESTS: Final = (
    "tests/suite/webhooks/test_operations.py",
    "tests/suite/preferences/test_operations.py",
    "tests/suite/recap/test_operations.py",
    "tests/suite/recap/test_mail_events.py",
)
_MILLION: Final = 1_000_000


def main() -> None:
    """Check the counts, then print them."""
    if subprocess.call([sys.executable, "-m", "pytest", "-q", "--no-header", *TESTS]):
        sys.exit("operations: the counts are not what the tests say")
    print(f"{'':46} calls   reads  writes  tasks  POSTs  mail  dollars a million, {AS_OF}")
    for operation, cost in COSTS.items():
        print(
            f"{operation:46} {cost.rpcs:5}  {cost.reads:6}  {cost.writes:6}  {cost.tasks:5}"
            f"  {cost.posts:5}  {cost.mail_requests:4}  {_dollars(cost):11,.2f}"
        )


def _dollars(cost: Cost) -> float:
    """Of a million, with the requests that start it."""
    return (
        READ.of(cost.reads * _MILLION)
        + WRITE.of(cost.writes * _MILLION)
        + TASK.of(cost.tasks * TASK_OPERATIONS * _MILLION)
        + REQUEST.of(max(cost.posts, 1) * _MILLION)
    )
