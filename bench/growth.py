"""How costs grow: an upload with the event's photos, a recap with its guests, a look-up with users.

Calls and documents are counted at the client, as Firestore bills them: a COUNT is one read for
every 1,000 photos, and one at least. Latency is a median, in this process; most of it is the
Firestore emulator, which scans what Firestore has an index for. A recap's CPU and wall time are
those of a fresh function, to which Firestore and the mail service are other processes.

The law is the exponent of n, by least squares over the logarithms. All is plotted in
docs/growth.png.
"""

import os
import statistics
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from math import log
from pathlib import Path
from typing import Final

from google.cloud import firestore
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullLocator

from bench import recap
from bench.firestore import own_firestore
from bench.mail import take_mail
from bench.turns import peer
from emulator.environment import local_secrets
from emulator.people import sign_in
from functions.preferences import handlers
from functions.side_by_side import Threads
from functions.signed_links.token import TokenKeys
from functions.wall.photo import Photo
from functions.webhooks.deliveries.pace import Pace
from functions.webhooks.deliveries.store import DeliveryStore
from functions.webhooks.messages.event_type import EventType
from functions.webhooks.publisher import Publisher
from functions.webhooks.settings.store import SettingsStore
from functions.webhooks.signing.wiring import secrets_in
from functions.webhooks.store import WallStore
from tests.suite.operations import Operations, counting_documents
from tests.suite.preferences.here import request, served
from tests.suite.recap.wall import TENANT, Wall, guest

PICTURE: Final = Path(__file__).parents[1] / "docs" / "growth.png"

PHOTOS: Final = (100, 1_000, 10_000)
GUESTS: Final = (100, 1_000, 5_000)
PHOTOS_A_GUEST: Final = 2
USERS: Final = (1, 1_000, 20_000)
"""A look-up goes by key: more users than are quickly written would show nothing else."""

REPEATS: Final = 20
WARM_UPS: Final = 5
RECAPS: Final = 3


LATENCY: Final = "median latency, ms"
COLOURS: Final = {
    "Firestore calls": "C0",
    "document reads": "C1",
    "document writes": "C2",
    "tasks": "C2",
    "mail requests": "C4",
    "CPU, s": "C3",
    "wall time, s": "C5",
    LATENCY: "C5",
}


@dataclass(frozen=True, slots=True)
class Growth:
    """What one piece of work costs at each size: a list for every kind of cost, with its unit."""

    title: str
    of: str
    sizes: Sequence[int]
    note: str
    costs: dict[str, list[float]] = field(default_factory=dict)

    def add(self, costs: Mapping[str, float]) -> None:
        """Add the costs at the next size."""
        for name, cost in costs.items():
            self.costs.setdefault(name, []).append(cost)

    def exponents(self) -> Mapping[str, float]:
        """The exponent of the size in each kind of cost."""
        return {name: exponent(self.sizes, found) for name, found in self.costs.items()}


def main() -> None:
    """Print the figures and draw the picture."""
    with own_firestore():
        found = [_uploads(), _recaps(), _look_ups()]
    for growth in found:
        _print(growth)
    _draw(found)
    print(f"drawn in {PICTURE.relative_to(PICTURE.parents[1])}")


def exponent(sizes: Sequence[int], costs: Sequence[float]) -> float:
    """Slope of log(cost) over log(size), by least squares."""
    x, y = [log(size) for size in sizes], [log(cost) for cost in costs]
    return statistics.linear_regression(x, y).slope


def in_words(power: float) -> str:
    """What an exponent says."""
    if abs(power) < 0.1:
        return "constant"
    if abs(power - 1) < 0.1:
        return "linear"
    return "less than linear" if power < 1 else "more than linear"


def _uploads() -> Growth:
    """The first photo of a guest, with one URL that takes every event."""
    growth = Growth(
        "One upload",
        "photos in the event",
        PHOTOS,
        "reads: 3 up to 1,000 photos, and one more for each further 1,000 (the COUNT)",
    )
    client, counted = _client(), Operations()
    counting = counting_documents(counted)
    settings = {
        "url": "https://example.com/hook",
        "events": [event_type.value for event_type in EventType],
    }
    for photos in PHOTOS:
        # Those measured end just below the number, so that none of them reaches a milestone.
        wall = recap.make_wall(client, photos, photos - WARM_UPS - REPEATS - 1)
        wall.event.collection("settings").document("webhooks").set({"urls": [settings]})
        publisher = Publisher(
            wall=WallStore(counting),
            settings=SettingsStore(counting),
            deliveries=DeliveryStore(counting),
            secrets=secrets_in(counting, now=_now, monotonic=time.monotonic),
            enqueue=counted.enqueue,
            pace=Pace(1_000, time.monotonic),
            side_by_side=Threads(20, "enqueue"),
            now=_now,
            monotonic=time.monotonic,
        )
        taken = []
        for number in range(WARM_UPS + REPEATS):
            photo = _upload(wall, number)
            counted.clear()
            began = time.perf_counter()
            publisher.photo_written(photo.id, wall.id, None, photo)
            taken.append(_milliseconds_since(began))
        latency = statistics.median(taken[WARM_UPS:])
        growth.add({**_counts(counted), "tasks": len(counted.tasks), LATENCY: latency})
    return growth


def _upload(wall: Wall, number: int) -> Photo:
    photo_id, now = f"new-{number:02}", _now()
    fields = {
        "status": "pending",
        "uploaderEmail": f"new-{number:02}@example.com",
        "url": "https://example.com/photo.jpg",
        "createdAt": now,
    }
    wall.event.collection("photos").document(photo_id).set(fields)
    return Photo.read(photo_id, fields, created=now, updated=now)


def _recaps() -> Growth:
    """A recap to so many guests with two photos each."""
    growth = Growth(
        "One recap",
        "guests",
        GUESTS,
        "reads: one a photo, one a guest, one for 30 addresses; mails: one request for 1,000",
    )
    organizer = sign_in("admin", TENANT)
    with peer(take_mail, recap.MAIL_SECONDS) as mail:
        address = f"http://127.0.0.1:{mail.ask('port')}"
        for guests in GUESTS:
            wall = recap.make_wall(_client(), guests, guests * PHOTOS_A_GUEST)
            costs = [recap.call(wall, guests, organizer, mail, address) for _ in range(RECAPS)]
            counted = recap.count(wall, address)
            mail.ask("traffic")
            growth.add(
                {
                    **_counts(counted),
                    "mail requests": costs[0].mail.requests,
                    "CPU, s": statistics.median(cost.cpu for cost in costs),
                    "wall time, s": statistics.median(cost.wall for cost in costs),
                }
            )
    return growth


def _look_ups() -> Growth:
    """A look-up of one user's preferences, each by another client."""
    growth = Growth(
        "One preferences look-up", "users", USERS, "by key, so that more users change nothing"
    )
    client, counted = _client(), Operations()
    keys, there = TokenKeys([local_secrets.read()["EMAIL_PREFS_KEY"]]), 0
    users = client.collection("users")
    with served(counting_documents(counted)):
        for count in USERS:
            Wall(client, client.collection("events").document("none")).write(
                (users.document(f"user-{n}"), {"email": guest(n)}) for n in range(there, count)
            )
            there = count
            taken = []
            for number in range(WARM_UPS + REPEATS):
                token = keys.issue(f"user-{number * count // (WARM_UPS + REPEATS)}", _now())
                call = request(f"10.{USERS.index(count)}.0.{number}", token=token)
                counted.clear()
                began = time.perf_counter()
                answer = handlers.get_email_preferences(call)
                taken.append(_milliseconds_since(began))
                assert answer["email"]
            latency = statistics.median(taken[WARM_UPS:])
            growth.add({**_counts(counted), LATENCY: latency})
    return growth


def _counts(counted: Operations) -> Mapping[str, float]:
    return {
        "Firestore calls": counted.rpcs,
        "document reads": counted.reads,
        "document writes": counted.writes,
    }


def _client() -> firestore.Client:
    return firestore.Client(project=os.environ["GCLOUD_PROJECT"])


def _now() -> datetime:
    return datetime.now(UTC)


def _milliseconds_since(began: float) -> float:
    return (time.perf_counter() - began) * 1000


def _print(growth: Growth) -> None:
    sizes = "".join(f"{size:>10,}" for size in growth.sizes)
    print(f"{f'{growth.title}, by {growth.of}':40}{sizes}   exponent")
    for name, power in growth.exponents().items():
        costs = "".join(f"{_short(cost):>10}" for cost in growth.costs[name])
        print(f"  {name:38}{costs}   {power:8.2f}   {in_words(power)}")
    print(f"  ({growth.note})")


def _short(number: float) -> str:
    return f"{number:,}" if isinstance(number, int) else f"{number:.2f}"


def _draw(found: Sequence[Growth]) -> None:
    figure = Figure(figsize=(12, 5), dpi=100, layout="constrained")
    for axes, growth in zip(figure.subplots(1, len(found)), found, strict=True):
        _plot(axes, growth)
    PICTURE.parent.mkdir(exist_ok=True)
    figure.savefig(PICTURE)


def _plot(axes: Axes, growth: Growth) -> None:
    # Costs that are the same everywhere share a line.
    lines: dict[tuple[float, ...], list[str]] = {}
    for name, costs in growth.costs.items():
        lines.setdefault(tuple(costs), []).append(name)
    for shared, names in lines.items():
        power = exponent(growth.sizes, shared)
        law = "constant" if in_words(power) == "constant" else f"$n^{{{power:.2f}}}$"
        measured = ", " in names[0]  # where the others are counted
        axes.plot(
            growth.sizes,
            shared,
            color=COLOURS[names[0]],
            marker="o",
            markersize=4,
            linestyle="--" if measured else "-",
            label=f"{' = '.join(names)}:  {law}",
        )
    axes.set(xscale="log", yscale="log", title=growth.title, xlabel=f"n, {growth.of}")
    low, high = axes.get_ylim()
    axes.set_ylim(min(low, 0.8), max(high, 120))
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
        axis.set_minor_locator(NullLocator())
    axes.grid(visible=True, alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.16), borderpad=0)


if __name__ == "__main__":
    main()
