"""CPU of the delivery worker, as a ratio to a loop that only signs and posts.

The worker is the whole `functions-framework` process tree, with every safety on: the address
check, the deadline, the record, the log. The Firestore emulator, the receiver and the driver are
other processes and are not counted. The reference is one process with one `requests.Session`,
which posts the same bodies to the same receiver. Both are warm. CPU seconds of user and system.
"""

import http.client
import json
import multiprocessing
import os
import resource
import sys
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from multiprocessing.connection import Connection
from typing import Final

import psutil
import requests
from google.cloud import firestore

from emulator import certificates
from emulator.receiver import Receiver, always
from functions.gcp.delivery_store import DeliveryStore
from functions.webhooks.catalogue import EventType
from functions.webhooks.delivery import Delivery
from functions.webhooks.signature import HEADER, sign
from tests.suite.process import FunctionProcess

DELIVERIES: Final = 1500
WARM_UP: Final = 300
IN_FLIGHT: Final = (16, 64, 80)
_BATCH: Final = 250


def main() -> None:
    """Print the figures."""
    certificates.ensure()
    ours, theirs = multiprocessing.Pipe()
    receiver = multiprocessing.Process(target=_receive, args=(theirs,), daemon=True)
    receiver.start()
    url: str = ours.recv()
    reference = _reference(url)
    print(f"reference: requests.Session, sign and post   {reference * 1000:6.2f} ms CPU a delivery")
    for in_flight in IN_FLIGHT:
        cost = _worker(url, in_flight)
        print(
            f"worker, {in_flight:2} in flight                         {cost * 1000:6.2f} ms"
            f" CPU a delivery   ratio {cost / reference:4.2f}",
            flush=True,
        )
    ours.send(None)
    connections: int = ours.recv()
    print(f"connections that the receiver has seen       {connections:6}")
    receiver.join()


def _receive(pipe: Connection) -> None:
    """Serve HTTPS with keep-alive, in a process of its own, until told to end."""
    with Receiver(certificates.SERVER, scripts={"/hook": always()}) as receiver:
        pipe.send(receiver.url("/hook"))
        pipe.recv()
        pipe.send(receiver.connections)


def _reference(url: str) -> float:
    """CPU seconds of one signed post in a plain loop, in a process of its own."""
    pool = multiprocessing.get_context("spawn").Pool(1)
    with pool:
        return pool.apply(_sign_and_post, (url,))


def _sign_and_post(url: str) -> float:
    session = requests.Session()
    session.verify = str(certificates.CA)
    session.trust_env = False
    bodies = [_delivery("bench", url).body.encode() for _ in range(DELIVERIES)]
    began = 0.0
    for number, body in enumerate(bodies):
        if number == WARM_UP:
            began = _own_cpu()
        headers = {
            "Content-Type": "application/json",
            HEADER: sign("whsec_bench", body, at=int(time.time())),
            "Wall-Delivery-Id": str(number),
        }
        assert session.post(url, data=body, headers=headers, timeout=5).ok
    return (_own_cpu() - began) / (DELIVERIES - WARM_UP)


def _own_cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def _delivery(event_id: str, url: str) -> Delivery:
    return Delivery.create(
        cause=uuid.uuid4().hex,
        event_id=event_id,
        event=EventType.PHOTO_UPLOADED,
        url=url,
        data={"photo": {"id": "p1", "status": "pending", "url": "https://example.com/p1.jpg"}},
        now=datetime.now(UTC),
    )


def _worker(url: str, in_flight: int) -> float:
    """CPU seconds of one delivery by the worker."""
    event_id = f"bench-{uuid.uuid4().hex[:8]}"
    store = DeliveryStore(firestore.Client(project=os.environ["GCLOUD_PROJECT"]))
    deliveries = [_delivery(event_id, url) for _ in range(DELIVERIES)]
    for start in range(0, DELIVERIES, _BATCH):
        store.create(event_id, deliveries[start : start + _BATCH])
    with FunctionProcess("deliverWebhook", THREADS=str(in_flight)) as worker:
        _dispatch(worker.port, deliveries[:WARM_UP], in_flight)
        before = _tree_cpu(worker.pid)
        _dispatch(worker.port, deliveries[WARM_UP:], in_flight)
        return (_tree_cpu(worker.pid) - before) / (DELIVERIES - WARM_UP)


def _dispatch(port: int, deliveries: list[Delivery], in_flight: int) -> None:
    """Dispatch their tasks as Cloud Tasks does, so many at a time, on connections that stay."""

    def lane(number: int) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        for one in deliveries[number::in_flight]:
            data = {"eventId": one.event_id, "deliveryId": one.id, "attempt": 1}
            body = json.dumps({"data": data})
            connection.request("POST", "/", body, {"Content-Type": "application/json"})
            answer = connection.getresponse()
            answer.read()
            if answer.status != http.client.OK:
                sys.exit(f"the worker answered {answer.status}")
        connection.close()

    with ThreadPoolExecutor(in_flight) as lanes:
        list(lanes.map(lane, range(in_flight)))


def _tree_cpu(pid: int) -> float:
    """CPU seconds of a process and all of its children."""
    root = psutil.Process(pid)
    times = [one.cpu_times() for one in (root, *root.children(recursive=True))]
    return sum(one.user + one.system for one in times)


if __name__ == "__main__":
    main()
