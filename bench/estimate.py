"""An event with 100,000 guests on paper: instances, rates and dollars from what was counted.

Operations are those that tests/suite/webhooks/test_operations.py counts, seconds of CPU were
measured, prices and quotas are published. Free tiers are left out, and so are the writes of the
photos themselves, which are the wall's.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from bench.prices import (
    AS_OF,
    CPU_SECOND,
    DELETE,
    EVENT_GIB,
    GIB_SECOND,
    LOG_GIB,
    MAIL,
    OUT_GIB,
    READ,
    REQUEST,
    STORED_GIB_MONTH,
    TASK,
    TASK_OPERATIONS,
    WRITE,
    Price,
)
from tests.suite.costs import COSTS

# The event.
GUESTS: Final = 100_000
PHOTOS_PER_GUEST: Final = 3
HOURS: Final = 4
MILESTONES: Final = 5
ANSWER_SECONDS: Final = 0.3
"""What the receiver takes to answer."""

UPLOAD: Final = COSTS["a photo, a URL for photo.uploaded alone"]
"""Beside what the count of the event's photos costs with each upload, while milestones are left."""

APPROVAL: Final = COSTS["an approval, one URL"]
DELIVERY: Final = COSTS["a delivery that succeeds"]
COUNTED_PER_READ: Final = 1000
"""Photos that a count reads for the price of one document."""
COUNTED_AT_MOST: Final = 10_000
"""The last milestone; what was counted beyond is not looked at."""

# Seconds of CPU, measured by `python3 -m emulator bench load` on a machine with 2 cores: the most
# that it printed for a trigger, of three URLs, and for an attempt.
TRIGGER_CPU: Final = 0.006
ATTEMPT_CPU: Final = 0.006
FIRESTORE_CALL_SECONDS: Final = 0.02
"""Assumed: within the region."""
TRIGGER_SECONDS: Final = 5 * FIRESTORE_CALL_SECONDS
"""Three calls of Firestore, one of Cloud Tasks, and the CPU."""
ATTEMPT_SECONDS: Final = ANSWER_SECONDS + 3 * FIRESTORE_CALL_SECONDS

# The recap.
RECIPIENTS_PER_CALL: Final = 5000
RECAP_SECONDS: Final = 540
"""Of a call at most: the function's time-out."""
RECAP_GIB: Final = 0.5
MAIL_KIB: Final = 10
"""A request for a thousand mails is up to 10 MB."""

# Instances: main.py, and https://cloud.google.com/run/docs/about-instance-autoscaling
CONCURRENCY: Final = 120
CPU_TARGET: Final = 0.6
GIB: Final = 0.5

# Sizes, assumed: an event on its way from Firestore, a POST with its share of TLS, the log lines of
# a request, a delivery's record with its indexes.
EVENT_KIB: Final = 2
POST_KIB: Final = 2
LOG_KIB: Final = 1
RECORD_KIB: Final = 3

_KIB_PER_GIB: Final = 1024**2


@dataclass(frozen=True, slots=True)
class Quota:
    """The most that is possible in a second, and the page that says so."""

    name: str
    limit: float
    url: str


DISPATCHES: Final = Quota(
    "dispatches of one queue, /s", 500, "https://cloud.google.com/tasks/docs/quotas"
)
SEQUENTIAL_WRITES: Final = Quota(
    "writes to one collection with sequential times, /s",
    500,
    "https://firebase.google.com/docs/firestore/quotas",
)
PLACES: Final = Quota("first attempts at work at a time", 240, "main.py: 2 instances of 120")


@dataclass(frozen=True, slots=True)
class Item:
    """A line of the bill."""

    name: str
    units: float
    price: Price

    @property
    def dollars(self) -> float:
        """What it costs."""
        return self.price.of(self.units)


def show() -> None:
    """Print the table."""
    photos = GUESTS * PHOTOS_PER_GUEST
    seconds = HOURS * 3600
    triggers = deliveries = 2 * photos + MILESTONES  # uploaded and approved
    trigger_instances = instances(triggers / seconds, TRIGGER_CPU, TRIGGER_SECONDS)
    worker_instances = instances(deliveries / seconds, ATTEMPT_CPU, ATTEMPT_SECONDS)
    print(f"\nOn paper, {AS_OF}: {GUESTS:,} guests, {photos:,} photos in {HOURS} h, all approved,")
    print("one URL that takes photo.uploaded, photo.approved and milestone.reached")
    print(
        f"instances of onPhotoWritten: {trigger_instances}, of deliverWebhook: {worker_instances}"
    )
    for quota, used in (
        (DISPATCHES, deliveries / seconds),
        (SEQUENTIAL_WRITES, 2 * deliveries / seconds),
        (PLACES, deliveries / seconds * ATTEMPT_SECONDS),
    ):
        share = used / quota.limit
        print(f"{quota.name:<52} {used:7.1f} of {quota.limit:.0f} ({share:.0%})  {quota.url}")
    busy = (trigger_instances + worker_instances) * seconds
    _print_bill("webhooks", _webhooks(photos, triggers, deliveries, busy))
    calls = math.ceil(GUESTS / RECIPIENTS_PER_CALL)
    _print_bill(f"recap, {calls} calls 24 hours apart", _recap(photos, calls))


def instances(rate: float, cpu: float, seconds: float) -> int:
    """How many serve `rate` requests a second that take `cpu` and `seconds` each."""
    by_cpu = rate * cpu / CPU_TARGET
    by_concurrency = rate * seconds / (CONCURRENCY * CPU_TARGET)
    return math.ceil(max(by_cpu, by_concurrency))


def _webhooks(photos: int, triggers: int, deliveries: int, busy: float) -> Sequence[Item]:
    reads = photos * (UPLOAD.reads + APPROVAL.reads) + deliveries * DELIVERY.reads
    writes = photos * (UPLOAD.writes + APPROVAL.writes) + deliveries * DELIVERY.writes
    counted = sum(math.ceil(number / COUNTED_PER_READ) for number in range(1, COUNTED_AT_MOST + 1))
    return [
        Item("instances, CPU seconds", busy, CPU_SECOND),
        Item("instances, GiB seconds", busy * GIB, GIB_SECOND),
        Item("requests", triggers + deliveries, REQUEST),
        Item("documents read", reads, READ),
        Item("reads by counts of photos", counted, READ),
        Item("documents written", writes, WRITE),
        Item("documents deleted after 30 days", deliveries, DELETE),
        Item("GiB stored for a month", deliveries * RECORD_KIB / _KIB_PER_GIB, STORED_GIB_MONTH),
        Item("operations on tasks", deliveries * TASK_OPERATIONS, TASK),
        Item("GiB of events, in and out", 2 * triggers * EVENT_KIB / _KIB_PER_GIB, EVENT_GIB),
        Item("GiB sent", deliveries * POST_KIB / _KIB_PER_GIB, OUT_GIB),
        Item("GiB logged", (triggers + deliveries) * LOG_KIB / _KIB_PER_GIB, LOG_GIB),
    ]


def _recap(photos: int, calls: int) -> Sequence[Item]:
    return [
        Item("instances, CPU seconds at most", calls * RECAP_SECONDS, CPU_SECOND),
        Item("instances, GiB seconds at most", calls * RECAP_SECONDS * RECAP_GIB, GIB_SECOND),
        Item("documents read: photos and guests", calls * (photos + GUESTS), READ),
        Item("GiB sent", GUESTS * MAIL_KIB / _KIB_PER_GIB, OUT_GIB),
        Item("mails", GUESTS, MAIL),
    ]


def _print_bill(name: str, items: Sequence[Item]) -> None:
    print(f"{name:<36} {'units':>14}  dollars")
    for item in items:
        amount = f"{item.units:,.0f}" if item.units >= CONCURRENCY else f"{item.units:.2f}"
        dollars = f"{item.price.dollars:.7f}".rstrip("0").rstrip(".")
        rate = f"${dollars} for {item.price.per:,.0f}"
        print(f"  {item.name:<34} {amount:>14}  {item.dollars:7.2f}  {rate}, {item.price.url}")
    print(f"  {'in all':<34} {'':>14}  {sum(item.dollars for item in items):7.2f}")
