"""CPU of the delivery worker, as a ratio to a loop that only signs and posts.

The worker is the whole `functions-framework` process tree, with every safety on: the address
check, the deadline, the record, the log. The Firestore emulator, the receiver and the driver are
other processes and are not counted. The reference is one process with one `requests.Session` that
posts the same bodies to the same receiver. Seconds of CPU, user and system.

The deployed worker has one CPU (`main.py`), so it is held to one here, and measured without that
as well: with more, the threads of one interpreter spend a good part of their time on waking each
other up.

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
from contextlib import ExitStack, contextmanager, nullcontext
from datetime import UTC, datetime
from typing import Final

from bench.figures import spread
from bench.turns import CLOSES, KEEPS, peer, receive, send_alone, sign_and_post, tree_cpu
from emulator import certificates
from functions.gcp.documents import documents
from functions.webhooks.deliveries.delivery import Delivery
from functions.webhooks.deliveries.store import DeliveryStore
from functions.webhooks.messages.event_type import EventType
from tests.suite.process import FunctionProcess

IN_FLIGHT: Final = (16, 64, 80)
FIRST_IN_FLIGHT: Final = 16
ROUNDS: Final = 12
TURN: Final = 160


def main() -> None:
    """Print the figures."""
    certificates.ensure()
    with ExitStack() as stack:
        receiver = stack.enter_context(peer(receive))
        address = f"https://localhost:{receiver.ask('port')}"
        loop = stack.enter_context(peer(sign_and_post, address + KEEPS))
        lanes = {
            f"{n} in flight, {where}": Lane(address + KEEPS, n, stack, one_cpu=one_cpu)
            for where, one_cpu in (("one CPU", True), ("all CPUs", False))
            for n in IN_FLIGHT
        }
        first = Lane(address + CLOSES, FIRST_IN_FLIGHT, stack, one_cpu=True)
        alone = stack.enter_context(peer(send_alone, address))
        reference: list[float] = []
        ratios: dict[str, list[float]] = {name: [] for name in lanes}
        firsts: list[float] = []
        alones: list[float] = []
        for number in range(ROUNDS + 1):
            bodies = [delivery_to(address, "bench").body.encode() for _ in range(TURN)]
            own = loop.ask(bodies) / TURN
            costs = {name: lane.turn() for name, lane in lanes.items()}
            new = first.turn()
            new_alone = alone.ask(bodies) / TURN
            if number == 0:
                before = receiver.ask("connections")
                continue  # everybody warms up
            reference.append(own)
            alones.append(new_alone / own)
            for name, cost in costs.items():
                ratios[name].append(cost / own)
            firsts.append((new - costs[f"{FIRST_IN_FLIGHT} in flight, one CPU"]) / own)
        kept = receiver.ask("connections") - before
    print(
        f"reference: sign and post             {statistics.median(reference) * 1000:5.2f} ms of CPU"
    )
    for name, found in ratios.items():
        print(f"worker, {name:25}    {spread(found)} times the reference")
    print(f"first delivery to a receiver       + {spread(firsts)} times the reference")
    print(f"  of the sender alone, one thread  + {spread(alones)} times the reference")
    deliveries = ROUNDS * TURN * len(lanes)
    kept -= 2 * ROUNDS * TURN  # those that the other path has closed
    print(f"handshakes to the receiver that keeps connections: {kept} in {deliveries} deliveries")


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
    """A worker, and the deliveries that it is given."""

    def __init__(self, url: str, in_flight: int, stack: ExitStack, *, one_cpu: bool) -> None:
        self._url = url
        self._in_flight = in_flight
        self._event_id = f"bench-{uuid.uuid4().hex[:8]}"
        self._store = DeliveryStore(documents())
        with on_one_cpu() if one_cpu else nullcontext():
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
        return (tree_cpu(self._worker.pid) - before) / TURN

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
        data={"photo": {"id": "p1", "status": "pending", "url": "https://example.com/p1.jpg"}},
        now=datetime.now(UTC),
    )


if __name__ == "__main__":
    main()
