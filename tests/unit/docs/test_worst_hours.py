"""The table of worst hours in docs/security.md: counts that other tests hold, at public prices."""

from pathlib import Path
from typing import Final

from bench.prices import CPU_SECOND, MAIL
from tests.suite.costs import COSTS, Cost
from tests.unit.docs.test_costs import dollars

SECURITY: Final = (Path(__file__).parents[3] / "docs/security.md").read_text()
HOUR: Final = 3600
A_SECOND: Final = 100
"""Requests that one attacker makes, where nothing but Google's quotas bounds them."""


def an_hour(calls: float, cost: Cost) -> float:
    """Dollars of so many calls."""
    return calls * dollars(cost) / 1_000_000


def _read(documents: int, *, writes: int = 0) -> Cost:
    return Cost(reads=documents, writes=writes)


_RECAP: Final = COSTS["a recap of 5,000 guests"]
WORST: Final = {
    # Each request reads as many documents as the rules let a list have.
    "lists 100 photos at a time": an_hour(A_SECOND * HOUR, _read(100)),
    "lists 500 photos at a time": an_hour(A_SECOND * HOUR, _read(500)),
    "looks preferences up": an_hour(332 * HOUR, COSTS["a look-up of preferences"]),
    # Photos, the records of as many guests, and a query for each 30 of these.
    "120 previews and recaps": an_hour(120, _read(200_000 + 100_000 // 30, writes=1)),
    "sends 20,000 mails": an_hour(4, _RECAP) + MAIL.of(20_000),
    "fails every delivery": an_hour(80 * HOUR, COSTS["a delivery that fails four times"]),
    "reads pages of a log": an_hour(A_SECOND * HOUR, COSTS["a page of 50 of a shared log"]),
    "tells news of mails": an_hour(25 * HOUR, COSTS["news of 500 of its mails, one request"]),
    "uploads 100 photos a second": an_hour(
        A_SECOND * HOUR, COSTS["a photo, a URL for photo.uploaded alone"]
    )
    + an_hour(A_SECOND * HOUR, COSTS["a delivery that succeeds"]),
    "keeps every instance at work": CPU_SECOND.of(20 * HOUR),
}


def test_the_table_of_worst_hours_is_calculated() -> None:
    """Each row names its dollars, and there is no other row."""
    table = SECURITY.partition("## The worst hour")[2].partition("\n## ")[0]
    rows = [line for line in table.splitlines() if line.startswith("| ")][1:]
    told = {}
    for line in rows:
        _, _, what, now, _, _ = line.split("|")
        [name] = [one for one in WORST if one in what]
        told[name] = now.strip()
    assert told == {name: f"${worst:.2f}" for name, worst in WORST.items()}
