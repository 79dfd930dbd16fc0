"""One recap for 5,000 guests: CPU, memory, and the time of its mail requests.

The function is the whole `functions-framework` process tree, fresh, called over HTTP with an
admin's ID token. Firestore, the mail service and the caller are other processes and are not
counted. The mail service answers each request after 100 ms; the dispatch lasts from the arrival of
the first request there to the answer of the last. Memory is to be flat in the number of photos.

The reference sends every recipient a request of their own, 16 at a time, to the same mail service.
"""

import os
import re
import statistics
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import psutil
import requests
from google.cloud import firestore

from bench.figures import Row
from bench.firestore import own_firestore
from bench.mail import MailService, Traffic
from bench.turns import peer, tree_cpu
from emulator.accounts import Account, sign_in
from emulator.cloud.function_process import FunctionProcess

GUESTS: Final = 5000
TENANT: Final = "tenant-1"
MAIL_SECONDS: Final = 0.1

REFERENCE_THREADS: Final = 16
REFERENCE_RECIPIENTS: Final = 500
REFERENCE_BYTES: Final = 8_000
"""Of a request for one recipient."""

_RUNS: Final = {(12_000, "evenly"): 3, (100_000, "evenly"): 1, (30_000, "unevenly"): 1}
"""How often the recap of so many photos is sent, and how the guests share the photos."""

_GOLDEN: Final = 0.618_034
"""Multiples of it, without what is before the point, lie evenly between 0 and 1."""

_COMMIT: Final = 400


@dataclass(frozen=True, slots=True)
class Cost:
    """What one call took: seconds of CPU, MiB before and at most, and its mail requests."""

    cpu: float
    idle: float
    peak: float
    mail: Traffic


def rows() -> Iterator[Row]:
    """The recap of a usual event and of a very large one."""
    organizer = sign_in("admin", TENANT)
    with own_firestore(), peer(MailService, MAIL_SECONDS) as mail:
        address = mail.address()
        alone = _reference(address, mail) * GUESTS / REFERENCE_RECIPIENTS
        beside = f"a request for each recipient: {alone:.0f} s"
        for (photos, how), runs in _RUNS.items():
            costs = [_call(_event(photos, how), organizer, mail, address) for _ in range(runs)]
            what = f"recap, {GUESTS:,} guests, {photos:,} photos {how}"
            dispatch = statistics.median(cost.mail.seconds for cost in costs)
            count = costs[0].mail.requests
            yield Row(f"{what}: dispatch", f"{dispatch:.2f} s, {count} requests", "1.5 s", beside)
            cpu = statistics.median(cost.cpu for cost in costs)
            yield Row(f"{what}: CPU of the function", f"{cpu:.1f} s")
            before = f"{max(cost.idle for cost in costs):.0f} MiB before the call"
            peak = f"{max(cost.peak for cost in costs):.0f} MiB"
            yield Row(f"{what}: peak memory", peak, "256 MiB", before)


def _event(photos: int, how: str) -> str:
    """A published event of a tenant with so many approved photos of all guests; its id."""
    client = firestore.Client(project=os.environ["GCLOUD_PROJECT"])
    for recaps in client.collection("recapMails").list_documents():
        recaps.delete()  # the tenant's limit of mails a day
    event = client.collection("events").document(f"bench-{uuid.uuid4().hex[:8]}")
    event.set({"tenantId": TENANT, "name": "Summer Party", "status": "published"})

    def commit(start: int) -> None:
        batch = client.batch()
        for number in range(start, min(start + _COMMIT, photos)):
            photo = event.collection("photos").document(f"photo-{number:06}")
            batch.set(photo, _photo(number, how))
        batch.commit()

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(commit, range(0, photos, _COMMIT)))
    return str(event.id)


def _photo(number: int, how: str) -> dict[str, Any]:
    created = datetime(2026, 5, 1, 12, tzinfo=UTC) + timedelta(seconds=number)
    guest = number % GUESTS
    if how == "unevenly" and number >= GUESTS:
        guest = int(GUESTS * (number * _GOLDEN % 1) ** 2)  # a hundred guests have 20 or more
    return {
        "status": "approved",
        "uploaderEmail": f"guest-{guest}@example.com",
        "uploaderName": f"Guest {guest}",
        "url": _address("photos", number),
        "thumbUrl": _address("thumbs", number),
        "createdAt": created,
        "approvedAt": created,
    }


def _address(kind: str, number: int) -> str:
    """As Cloud Storage for Firebase gives it, with its usual length."""
    name = uuid.UUID(int=number)
    base = "https://firebasestorage.googleapis.com/v0/b/demo-wall.appspot.com/o"
    return f"{base}/{kind}%2F{number:06}.jpg?alt=media&token={name}"


def _call(event_id: str, organizer: Account, mail: Any, address: str) -> Cost:
    """Have a fresh process send the recap."""
    with FunctionProcess("sendEventRecap", SENDGRID_HOST=address) as function:
        url, data = f"http://127.0.0.1:{function.port}/", {"data": {"eventId": event_id}}
        headers = {"Authorization": f"Bearer {organizer.id_token}"}
        cpu, idle = tree_cpu(function.pid), _peak(function.pid)
        result = requests.post(url, json=data, headers=headers, timeout=540).json()["result"]
        assert (result["sent"], result["skipped"]) == (GUESTS, 0)
        return Cost(
            cpu=tree_cpu(function.pid) - cpu,
            idle=idle,
            peak=_peak(function.pid),
            mail=mail.traffic(),
        )


def _peak(pid: int) -> float:
    """The most memory that any process of the tree has had resident, MiB."""
    root = psutil.Process(pid)
    tree = (root, *root.children(recursive=True))
    told = [Path(f"/proc/{process.pid}/status").read_text() for process in tree]
    return max(int(re.findall(r"VmHWM:\s*(\d+)", text)[0]) for text in told) / 1024


def _reference(address: str, mail: Any) -> float:
    """Seconds that a request for each recipient takes."""

    def send(_: int) -> None:
        requests.post(f"{address}/v3/mail/send", data=bytes(REFERENCE_BYTES), timeout=60)

    with ThreadPoolExecutor(REFERENCE_THREADS) as threads:
        list(threads.map(send, range(REFERENCE_RECIPIENTS)))
    traffic: Traffic = mail.traffic()
    assert traffic.requests == REFERENCE_RECIPIENTS
    return traffic.seconds
