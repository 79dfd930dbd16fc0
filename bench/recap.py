"""CPU, memory and email requests of one recap for 5,000 guests.

The function is a new `functions-framework` process tree, called over HTTP with an admin's ID token.
Firestore, the email service and the caller are not counted. The email service answers each request
after 100 ms. The dispatch lasts from the first request to the last response. The memory must not
grow with the number of photos.

The reference sends one request for each recipient to the same email service, 16 at a time.
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

from bench.email_service import EmailService, SmtpService, Traffic
from bench.figures import Row
from bench.firestore import own_firestore
from bench.processes import peer, tree_cpu
from emulator.accounts import Account, sign_in
from emulator.cloud.function_process import FunctionProcess
from tools import local_secrets

GUESTS: Final = 5000
TENANT: Final = "tenant-1"
MAIL_SECONDS: Final = 0.1
SMTP_SECONDS: Final = 0.05
"""Time of a mail server for each email."""

REFERENCE_THREADS: Final = 16
REFERENCE_RECIPIENTS: Final = 500
REFERENCE_BYTES: Final = 8_000
"""Size of a request for one recipient."""

_RUNS: Final = {(12_000, "evenly"): 3, (100_000, "evenly"): 1, (30_000, "unevenly"): 1}
"""Number of recaps, by the number of photos and their distribution among the guests."""

_GOLDEN: Final = 0.618_034
"""The fractional parts of its multiples are evenly distributed between 0 and 1."""

_WRITES_PER_COMMIT: Final = 400


@dataclass(frozen=True, slots=True)
class Cost:
    """Costs of one call: CPU seconds, MiB before the call and at most, and email requests."""

    cpu: float
    idle: float
    peak: float
    mail: Traffic


def rows() -> Iterator[Row]:
    """Measure the recaps of a usual event and of very large events."""
    organizer = sign_in("admin", TENANT)
    with own_firestore(), peer(EmailService, MAIL_SECONDS) as mail:
        address = mail.address()
        seconds = _reference(address, mail) * GUESTS / REFERENCE_RECIPIENTS
        reference = f"a request for each recipient: {seconds:.0f} s"
        for (photos, how), runs in _RUNS.items():
            costs = [_call(_event(photos, how), organizer, mail, host=address) for _ in range(runs)]
            name = f"recap, {GUESTS:,} guests, {photos:,} photos {how}"
            dispatch = statistics.median(cost.mail.seconds for cost in costs)
            figure = f"{dispatch:.2f} s, {costs[0].mail.requests} requests"
            yield Row(f"{name}: dispatch", figure, "1.5 s", reference)
            cpu = statistics.median(cost.cpu for cost in costs)
            yield Row(f"{name}: CPU of the function", f"{cpu:.1f} s")
            before = f"{max(cost.idle for cost in costs):.0f} MiB before the call"
            peak = f"{max(cost.peak for cost in costs):.0f} MiB"
            yield Row(f"{name}: peak memory", peak, "256 MiB", before)
        yield by_smtp(organizer)


def by_smtp(organizer: Account) -> Row:
    """Measure a recap through a mail server."""
    password = local_secrets.read()["SMTP_PASSWORD"]
    photos, how = next(iter(_RUNS))
    with peer(SmtpService, SMTP_SECONDS, password) as mail:
        cost = _call(_event(photos, how), organizer, mail, url=mail.address())
    name = f"recap, {GUESTS:,} guests, {photos:,} photos, a mail server with {SMTP_SECONDS} s"
    figure = f"{cost.mail.seconds:.0f} s, {cost.mail.requests} emails, CPU {cost.cpu:.0f} s"
    return Row(f"{name}: dispatch", figure, "420 s", f"{cost.peak:.0f} MiB")


def _event(photos: int, how: str) -> str:
    """Create a published event with approved photos of all guests and return its ID."""
    client = firestore.Client(project=os.environ["GCLOUD_PROJECT"])
    for recaps in client.collection("recapMails").list_documents():
        recaps.delete()  # resets the tenant's daily limit of emails
    event = client.collection("events").document(f"bench-{uuid.uuid4().hex[:8]}")
    event.set({"tenantId": TENANT, "name": "Summer Party", "status": "published"})

    def commit(start: int) -> None:
        batch = client.batch()
        for number in range(start, min(start + _WRITES_PER_COMMIT, photos)):
            photo = event.collection("photos").document(f"photo-{number:06}")
            batch.set(photo, _photo(number, how))
        batch.commit()

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(commit, range(0, photos, _WRITES_PER_COMMIT)))
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
    """Return a URL like those of Cloud Storage for Firebase, with the usual length."""
    name = uuid.UUID(int=number)
    base = "https://firebasestorage.googleapis.com/v0/b/demo-wall.appspot.com/o"
    return f"{base}/{kind}%2F{number:06}.jpg?alt=media&token={name}"


def _call(event_id: str, organizer: Account, mail: Any, *, host: str = "", url: str = "") -> Cost:
    """Send the recap with a new process and return its costs."""
    with FunctionProcess("sendEventRecap", SENDGRID_HOST=host, MAIL_URL=url) as function:
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
    """Return the peak resident memory of the largest process of the tree, in MiB."""
    root = psutil.Process(pid)
    tree = (root, *root.children(recursive=True))
    statuses = [Path(f"/proc/{process.pid}/status").read_text() for process in tree]
    return max(int(re.findall(r"VmHWM:\s*(\d+)", text)[0]) for text in statuses) / 1024


def _reference(address: str, mail: Any) -> float:
    """Send a request for each recipient and return the seconds of the dispatch."""

    def send(_: int) -> None:
        requests.post(f"{address}/v3/mail/send", data=bytes(REFERENCE_BYTES), timeout=60)

    with ThreadPoolExecutor(REFERENCE_THREADS) as threads:
        list(threads.map(send, range(REFERENCE_RECIPIENTS)))
    traffic: Traffic = mail.traffic()
    assert traffic.requests == REFERENCE_RECIPIENTS
    return traffic.seconds
