"""docs/benchmarks.md names the costs that the tests hold."""

from pathlib import Path
from typing import Final

from bench.costs import COSTS, Cost
from bench.operations import dollars
from bench.prices import AS_OF

ROOT: Final = Path(__file__).parents[3]
BENCHMARKS: Final = (ROOT / "docs/benchmarks.md").read_text()
_HEADINGS: Final = (
    "| what | Firestore calls | documents read, written | tasks | POSTs | mail requests "
    "| $ a million |"
)


def row(what: str, cost: Cost) -> str:
    """The line of the table that tells `cost`."""
    cells = [
        what,
        str(cost.rpcs),
        f"{cost.reads:,}, {cost.writes}",
        *(str(count or "") for count in (cost.tasks, cost.posts, cost.mail_requests)),
        f"{dollars(cost):,.2f}",
    ]
    return "| " + " | ".join(cells).replace("|  |", "| |").replace("|  |", "| |") + " |"


def table() -> list[str]:
    """The rows of the table in docs/benchmarks.md, without code marks."""
    found = BENCHMARKS.partition(f"{_HEADINGS}\n")[2].partition("\n\n")[0]
    return found.replace("`", "").splitlines()[1:]


def test_the_table_of_operations_tells_what_the_tests_hold() -> None:
    """The page has each piece of work of `costs.py`, in its order, and no other."""
    assert table() == [row(work, cost) for work, cost in COSTS.items()]


def test_the_prices_are_dated() -> None:
    """A price without its date is worth nothing a year later."""
    assert f"in {AS_OF}" in BENCHMARKS
