"""The table of worst hours in docs/security.md: counts that other tests hold, at public prices."""

from pathlib import Path
from typing import Final

from bench.costs import COSTS, Cost
from bench.operations import dollars
from bench.prices import CPU_SECOND, HOSTED_GB, MAIL, OUT_GIB, READ, WRITE

SECURITY: Final = (Path(__file__).parents[3] / "docs/security.md").read_text()
HOUR: Final = 3600
A_SECOND: Final = 100
"""Requests that one attacker makes, where nothing but Google's quotas bounds them."""
URLS: Final = 20
PACE: Final = 2 * 80
"""Deliveries a second of one event: `EVENT_DELIVERIES_A_SECOND` in two instances of the trigger."""


def an_hour(calls: float, cost: Cost) -> float:
    """Dollars of so many calls."""
    return calls * dollars(cost) / 1_000_000


def read(documents: int, *, writes: int = 0) -> Cost:
    """The cost of reading so many documents."""
    return Cost(reads=documents, writes=writes)


def recorded(deliveries: int, *, reads: int) -> Cost:
    """The cost of a write of a photo whose trigger records and queues so many deliveries."""
    return Cost(reads=reads, writes=1 + deliveries, tasks=deliveries)


def later(deliveries: int) -> str:
    """Dollars of so many deliveries, where all succeed and where all fail."""
    least, most = (
        an_hour(deliveries, COSTS[name])
        for name in ("a delivery that succeeds", "a delivery that fails four times")
    )
    return f"${least:.2f} to {most:.2f}"


def network(count: float, size: int) -> str:
    """Dollars of so many things of `size` bytes that leave Google."""
    return f"${OUT_GIB.of(count * size / 2**30):.2f}"


PHOTO: Final = 6_500
"""Bytes of a photo on its way, with the longest texts that the rules allow."""
CALLS: Final = A_SECOND * HOUR
BURST: Final = 2_000
"""Photos of one commit."""
TAKEN: Final = 67
"""Uploads at 20 URLs that the triggers take in a second."""
NETWORK: Final = {
    "lists 100 photos at a time": network(CALLS * 100, PHOTO),
    "lists 500 photos at a time": network(CALLS * 500, PHOTO),
    "1,000 listeners": network(CALLS * 1000, PHOTO - 2_000),  # a copy has no address and no reason
    "reads pages of a log": network(CALLS, 1_000_000),
    "loads the pages": f"${HOSTED_GB.of(HOUR / 8):.2f}",
}
WORST: Final[dict[str, tuple[float, str]]] = {
    # work: dollars of the hour, and of the deliveries left to later hours
    # Each request reads as many documents as the rules let a list have.
    "lists 100 photos at a time": (an_hour(CALLS, read(100)), ""),
    "lists 500 photos at a time": (an_hour(CALLS, read(500)), ""),
    # Each listener reads each photo that comes.
    "1,000 listeners": (READ.of(CALLS * 1000), ""),
    "looks preferences up": (an_hour(332 * HOUR, COSTS["a look-up of preferences"]), ""),
    # Photos, the records of as many guests, and a query for each 30 of these.
    "120 previews and recaps": (an_hour(120, read(200_000 + 100_000 // 30, writes=1)), ""),
    "sends 20,000 mails": (an_hour(4, COSTS["a recap of 5,000 guests"]) + MAIL.of(20_000), ""),
    "fails every delivery": (
        an_hour(PACE * HOUR, COSTS["a delivery that fails four times"]),
        "",
    ),
    "reads pages of a log": (an_hour(CALLS, COSTS["a page of 50 of a shared log"]), ""),
    "tells news of mails": (
        an_hour(25 * HOUR, COSTS["news of 500 of its mails, one request"]),
        "",
    ),
    # The upload, its approval and a new guest, at each URL. The rules read the event; the trigger
    # reads the settings, the count and the guest's first photo.
    "uploads 100 photos a second": (
        an_hour(CALLS, recorded(3 * URLS, reads=4)),
        later(CALLS * 3 * URLS),
    ),
    "flips the status": (an_hour(CALLS, recorded(URLS, reads=2)), later(CALLS * URLS)),
    # Every second time the event's photos are counted, a read for each thousand.
    "publishes and archives": (
        an_hour(CALLS / 2, recorded(URLS, reads=1)) + an_hour(CALLS / 2, recorded(URLS, reads=101)),
        later(CALLS * URLS),
    ),
    "keeps every instance at work": (CPU_SECOND.of(20 * HOUR), ""),
    # The triggers take what they can meanwhile; the rest waits at Eventarc.
    "commits 2,000 photos": (
        WRITE.of(BURST * HOUR) + an_hour(TAKEN * HOUR, recorded(3 * URLS, reads=4)),
        f"{(BURST - TAKEN) * HOUR / 1e6:.1f} million events at Eventarc, for a day",
    ),
    "loads the pages": (0.0, ""),
}


def test_the_table_of_worst_hours_is_calculated() -> None:
    """Each row of the table names its dollars, and the table has no other row."""
    table = SECURITY.partition("## The worst hour")[2].partition("\n## ")[0]
    rows = [line for line in table.splitlines() if line.startswith("| ")][1:]
    told = {}
    for line in rows:
        _, _, what, now, sent, after, _ = (cell.strip() for cell in line.split("|"))
        [name] = [name for name in WORST if name in what]
        told[name] = (now, sent, after)
    assert told == {
        name: (f"${now:.2f}", NETWORK.get(name, ""), after) for name, (now, after) in WORST.items()
    }
