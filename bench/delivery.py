"""CPU of the delivery worker, as a ratio to a loop that only signs and posts.

The worker is the whole `functions-framework` process tree, with every safety on: the address
check, the deadline, the record, the log. The Firestore emulator, the receiver and the driver are
other processes and are not counted. The reference is one process with one `requests.Session` that
posts the same bodies to the same receiver. Seconds of CPU, user and system. The worker is held to
one CPU, as it is deployed (`main.py`).

All are warm. A machine's pace changes within seconds, so they take turns of some deliveries each,
and a ratio is the median over the rounds.
"""

import http.client
import json
import os
import statistics
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from typing import Final

from bench.figures import Row, spread
from bench.turns import CLOSES, KEEPS, Receivers, Reference, peer, tree_cpu
from emulator import certificates
from emulator.cloud.function_process import FunctionProcess
from functions.firestore.client import documents
from functions.webhooks.deliveries.delivery import Delivery, Outcome
from functions.webhooks.deliveries.delivery_store import DeliveryStore
from functions.webhooks.events import EventType
from functions.webhooks.webhook_settings import key

AIMS: Final = {16: "2.5", 64: "2.2"}
"""Times the reference, by the attempts in flight."""
FIRST_IN_FLIGHT: Final = 16
ROUNDS: Final = 12
TURN: Final = 160


def rows() -> Iterator[Row]:
    """The worker's deliveries, and what the first one to a receiver takes on top."""
    certificates.ensure()
    with ExitStack() as stack:
        receiver = stack.enter_context(peer(Receivers))
        address = receiver.address()
        loop = stack.enter_context(peer(Reference, address + KEEPS))
        lanes = {in_flight: Lane(address + KEEPS, in_flight, stack) for in_flight in AIMS}
        first = Lane(address + CLOSES, FIRST_IN_FLIGHT, stack)
        reference: list[float] = []
        ratios: dict[int, list[float]] = {in_flight: [] for in_flight in lanes}
        firsts: list[float] = []
        for number in range(ROUNDS + 1):
            bodies = [delivery_to(address, "bench").body.encode() for _ in range(TURN)]
            own = loop.post(bodies) / TURN
            costs = {in_flight: lane.turn() for in_flight, lane in lanes.items()}
            new = first.turn()
            if number == 0:
                before = receiver.connections()
                for lane in lanes.values():
                    lane.moved = lane.checked = 0
                continue  # everybody warms up
            reference.append(own)
            for in_flight, cost in costs.items():
                ratios[in_flight].append(cost / own)
            firsts.append((new - costs[FIRST_IN_FLIGHT]) / own)
        handshakes = receiver.connections() - before
    beside = f"sign and post: {statistics.median(reference) * 1000:.2f} ms of CPU"
    for in_flight, found in ratios.items():
        what = f"CPU of a delivery, {in_flight} in flight"
        yield Row(what, f"{spread(found)} times", AIMS[in_flight], beside)
    yield Row("first delivery to a receiver, on top", f"{spread(firsts)} times", "2.5", beside)
    deliveries = ROUNDS * TURN
    handshakes -= deliveries  # with the path that closes each connection
    yield Row(f"TLS handshakes in {deliveries * len(lanes):,} deliveries", f"{handshakes:,}")
    moved = sum(lane.moved for lane in lanes.values())
    yield Row("… of these, moved to the slow queue: the machine is too busy", f"{moved:,}")
    checked = sum(lane.checked for lane in lanes.values())
    yield Row("… of these, begun late, so that the settings were read first", f"{checked:,}")


@contextmanager
def on_one_cpu() -> Iterator[None]:
    """Have processes that are started here run on one CPU, where the system can do that."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    all_of_them = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(all_of_them)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, all_of_them)


class Lane:
    """A worker, and the deliveries that it is given.

    Attributes:
        moved: How many of them the worker moved to the slow queue in place of posting them.
        checked: Before how many of them the worker read the settings: the event has none, so that
            such a delivery is skipped.
    """

    def __init__(self, url: str, in_flight: int, stack: ExitStack) -> None:
        self._url = url
        self._in_flight = in_flight
        self._event_id = f"bench-{uuid.uuid4().hex[:8]}"
        self.moved = 0
        self.checked = 0
        self._store = DeliveryStore(documents())
        with on_one_cpu():
            self._worker = stack.enter_context(
                FunctionProcess("deliverWebhook", THREADS=str(in_flight))
            )

    def turn(self) -> float:
        """Have a turn of deliveries made; seconds of CPU that each took the worker."""
        deliveries = [delivery_to(self._url, self._event_id) for _ in range(TURN)]
        self._store.create(self._event_id, deliveries)
        before = tree_cpu(self._worker.pid)
        with ThreadPoolExecutor(self._in_flight) as threads:
            for done in [
                threads.submit(self._dispatch, deliveries[number :: self._in_flight])
                for number in range(self._in_flight)
            ]:
                done.result()
        used = tree_cpu(self._worker.pid) - before
        for delivery in deliveries:
            made = self._store.load(delivery.event_id, delivery.id)
            is_skipped = made is not None and made.outcome is Outcome.SKIPPED
            self.checked += is_skipped
            self.moved += made is None or (not made.attempts and not is_skipped)
        return used / TURN

    def _dispatch(self, deliveries: list[Delivery]) -> None:
        """Dispatch the tasks of some one after the other, as Cloud Tasks does."""
        connection = http.client.HTTPConnection("127.0.0.1", self._worker.port, timeout=60)
        for delivery in deliveries:
            data = {"eventId": delivery.event_id, "deliveryId": delivery.id, "attempt": 1}
            headers = {"Content-Type": "application/json"}
            connection.request("POST", "/", json.dumps({"data": data}), headers)
            answer = connection.getresponse()
            answer.read()
            assert answer.status == http.client.OK
        connection.close()


def delivery_to(url: str, event_id: str) -> Delivery:
    """A new delivery, with the body of an uploaded photo."""
    return Delivery.create(
        cause=uuid.uuid4().hex,
        event_id=event_id,
        event_type=EventType.PHOTO_UPLOADED,
        url=url,
        endpoint=key(url),
        data={"photo": {"id": "p1", "status": "pending", "url": "https://example.com/p1.jpg"}},
        now=datetime.now(UTC),
    )
