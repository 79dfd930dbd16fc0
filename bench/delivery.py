"""CPU of the delivery worker, relative to a loop that only signs and posts.

The worker is the complete `functions-framework` process tree with all checks: the address check,
the deadline, the record, the log. The Firestore emulator, the receiver and this process are not
counted. The reference is one process with one `requests.Session` that posts the same bodies to the
same receiver. The figures are seconds of user and system CPU. The worker runs on one CPU, as in
production (`main.py`).

All processes are warm. They take turns of some deliveries each, because a machine's speed changes
within seconds. A ratio is the median over the rounds.
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
from bench.processes import CLOSES, KEEPS, Receivers, Reference, peer, tree_cpu
from emulator import certificates
from emulator.cloud.function_process import FunctionProcess
from functions.firestore.client import documents
from functions.webhooks.deliveries.delivery import Delivery, Outcome
from functions.webhooks.deliveries.delivery_store import DeliveryStore
from functions.webhooks.events import EventType
from functions.webhooks.webhook_settings import endpoint_id

AIMS: Final = {16: "2.5", 64: "2.2"}
"""Ratio to the reference, by the number of attempts in flight."""
FIRST_IN_FLIGHT: Final = 16
ROUNDS: Final = 12
TURN: Final = 160


def rows() -> Iterator[Row]:
    """Measure a delivery, and the additional cost of the first delivery to a receiver."""
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
                continue  # the first round is the warm-up
            reference.append(own)
            for in_flight, cost in costs.items():
                ratios[in_flight].append(cost / own)
            firsts.append((new - costs[FIRST_IN_FLIGHT]) / own)
        handshakes = receiver.connections() - before
    shown = f"sign and post: {statistics.median(reference) * 1000:.2f} ms of CPU"
    for in_flight, found in ratios.items():
        name = f"CPU of a delivery, {in_flight} in flight"
        yield Row(name, f"{spread(found)} times", AIMS[in_flight], shown)
    name = "additional CPU of the first delivery to a receiver"
    yield Row(name, f"{spread(firsts)} times", "2.5", shown)
    deliveries = ROUNDS * TURN
    handshakes -= deliveries  # those of the path that closes each connection
    yield Row(f"TLS handshakes in {deliveries * len(lanes):,} deliveries", f"{handshakes:,}")
    moved = sum(lane.moved for lane in lanes.values())
    yield Row("… of these, moved to the slow queue (the machine is too busy)", f"{moved:,}")
    checked = sum(lane.checked for lane in lanes.values())
    yield Row("… of these, started late, with a read of the settings", f"{checked:,}")


@contextmanager
def on_one_cpu() -> Iterator[None]:
    """Start processes on one CPU, if the system supports that."""
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
    """A worker with its deliveries.

    Attributes:
        moved: Number of deliveries that the worker moved to the slow queue.
        checked: Number of deliveries for which the worker read the settings. They are skipped,
            because the event has no settings.
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
        """Run a turn of deliveries and return the worker's CPU seconds for each delivery."""
        deliveries = [delivery_to(self._url, self._event_id) for _ in range(TURN)]
        self._store.create(self._event_id, deliveries)
        before = tree_cpu(self._worker.pid)
        with ThreadPoolExecutor(self._in_flight) as threads:
            for future in [
                threads.submit(self._dispatch, deliveries[number :: self._in_flight])
                for number in range(self._in_flight)
            ]:
                future.result()
        used = tree_cpu(self._worker.pid) - before
        for delivery in deliveries:
            stored = self._store.load(delivery.event_id, delivery.id)
            is_skipped = stored is not None and stored.outcome is Outcome.SKIPPED
            self.checked += is_skipped
            self.moved += stored is None or (not stored.attempts and not is_skipped)
        return used / TURN

    def _dispatch(self, deliveries: list[Delivery]) -> None:
        """Dispatch the tasks of `deliveries` one after another, as Cloud Tasks does."""
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
    """Create a delivery of photo.uploaded."""
    return Delivery.create(
        cause=uuid.uuid4().hex,
        event_id=event_id,
        event_type=EventType.PHOTO_UPLOADED,
        url=url,
        endpoint=endpoint_id(url),
        data={"photo": {"id": "p1", "status": "pending", "url": "https://example.com/p1.jpg"}},
        now=datetime.now(UTC),
    )
