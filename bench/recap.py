"""One recap for 5,000 guests: CPU, memory, Firestore, and the time of its mail requests.

The function is the whole `functions-framework` process tree, fresh, called over HTTP with an
admin's ID token. Firestore, the mail service and the caller are other processes and are not
counted. The mail service answers each request after 100 ms; the dispatch lasts from the arrival of
the first request there to the answer of the last.

Memory is to be flat in the number of photos and in the length of their addresses: of each guest
the function keeps as many as one mail can show.

The reference sends every recipient a request of their own, 16 at a time, to the same mail service.
"""

import json
import os
import statistics
import time
import urllib.request
import uuid
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import psutil
from google.cloud import firestore

from bench.firestore import own_firestore
from bench.mail import Traffic, take_mail
from bench.turns import Peer, peer, tree_cpu
from emulator.people import Person, sign_in
from functions.mail.outcome import Accepted
from functions.recap.arguments import Mode, RecapArguments
from functions.recap.mail.composer import Composer, Recap, Recipient
from functions.recap.photos import Picture
from tests.suite.operations import Operations, counting_documents
from tests.suite.process import FunctionProcess
from tests.suite.recap.sender import LETTERHEAD, ORGANIZER, links, mailer, recap_sender
from tests.suite.recap.wall import TENANT, Wall, guest

GUESTS: Final = 5000
MAIL_SECONDS: Final = 0.1
AIM_SECONDS: Final = 1.5
AIM_MEBIBYTES: Final = 256

REFERENCE_THREADS: Final = 16
REFERENCE_RECIPIENTS: Final = 500


@dataclass(frozen=True, slots=True)
class Case:
    """So many photos, with addresses of so many characters at least, and how often it is run."""

    photos: int
    characters: int
    runs: int

    def __str__(self) -> str:
        long = f" with addresses of {self.characters:,} characters" if self.characters else ""
        return f"{self.photos:,} photos{long}"


CASES: Final = (Case(12_000, 0, 3), Case(100_000, 0, 1), Case(25_000, 2_000, 1))


@dataclass(frozen=True, slots=True)
class Cost:
    """What one call took: seconds, of CPU and of the clock, MiB, and its mail requests."""

    cpu: float
    wall: float
    idle: float
    peak: float
    mail: Traffic


def main() -> None:
    """Print the figures."""
    organizer = sign_in("admin", TENANT)
    with own_firestore(), peer(take_mail, MAIL_SECONDS) as mail:
        address = f"http://127.0.0.1:{mail.ask('port')}"
        client = firestore.Client(project=os.environ["GCLOUD_PROJECT"])
        dispatches = {}
        for case in CASES:
            wall = make_wall(client, GUESTS, case.photos, case.characters)
            costs = [call(wall, GUESTS, organizer, mail, address) for _ in range(case.runs)]
            counted = count(wall, address)
            mail.ask("traffic")
            dispatches[case] = statistics.median(cost.mail.seconds for cost in costs)
            _print(case, costs, counted)
        seconds = _reference(address, mail) * GUESTS / REFERENCE_RECIPIENTS
    print("one request a recipient, with two photos each")
    print(
        f"  dispatch                {seconds:8.2f} s    "
        f"({REFERENCE_THREADS} at a time; scaled to {GUESTS:,} from {REFERENCE_RECIPIENTS})"
    )
    for case, ours in dispatches.items():
        print(f"  is slower by            {seconds / ours:8.1f} times   ({case})")


def make_wall(client: firestore.Client, guests: int, photos: int, characters: int = 0) -> Wall:
    """A published event with so many approved photos, evenly by so many guests.

    Their addresses have the usual length, or `characters` where that is more.
    """
    wall = Wall(client, client.collection("events").document(f"bench-{uuid.uuid4().hex[:8]}"))
    wall.publish()
    wall.photos(
        *(
            {
                "uploaderEmail": guest(n % guests),
                "uploaderName": f"Guest {n % guests}",
                "url": _address("photos", n).ljust(characters, "x"),
                "thumbUrl": _address("thumbs", n).ljust(characters, "x"),
            }
            for n in range(photos)
        )
    )
    return wall


def _address(kind: str, number: int) -> str:
    """As Cloud Storage for Firebase gives it, with its usual length."""
    name = uuid.UUID(int=number)
    base = "https://firebasestorage.googleapis.com/v0/b/demo-wall.appspot.com/o"
    return f"{base}/{kind}%2F{number:06}.jpg?alt=media&token={name}"


def call(wall: Wall, guests: int, organizer: Person, mail: Peer, address: str) -> Cost:
    """Have a fresh process send the recap to so many guests."""
    forget(wall)
    with FunctionProcess(
        "sendEventRecap",
        SENDGRID_HOST=address,
    ) as function:
        request = urllib.request.Request(
            f"http://127.0.0.1:{function.port}/",
            json.dumps({"data": {"eventId": wall.id}}).encode(),
            {"Content-Type": "application/json", "Authorization": f"Bearer {organizer.id_token}"},
        )
        cpu, idle, began = tree_cpu(function.pid), _peak(function.pid), time.monotonic()
        with urllib.request.urlopen(request, timeout=540) as answer:  # noqa: S310 - loopback
            result = json.load(answer)["result"]
        ended = time.monotonic()
        assert (result["sent"], result["skipped"]) == (guests, 0)
        return Cost(
            cpu=tree_cpu(function.pid) - cpu,
            wall=ended - began,
            idle=idle,
            peak=_peak(function.pid),
            mail=mail.ask("traffic"),
        )


def count(wall: Wall, address: str) -> Operations:
    """What the same recap asks of Firestore."""
    forget(wall)
    counted = Operations()
    sender = recap_sender(counting_documents(counted), address)
    sender.send(ORGANIZER, RecapArguments.read({"eventId": wall.id}))
    return counted


def forget(wall: Wall) -> None:
    """Let the event have had no recap."""
    wall.lock.delete()
    wall.forget_mails()


def _peak(pid: int) -> float:
    """The most memory that any process of the tree has had resident, MiB."""
    root = psutil.Process(pid)
    return max(_high_water(process.pid) for process in (root, *root.children(recursive=True)))


def _high_water(pid: int) -> float:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    (kibibytes,) = (int(line.split()[1]) for line in lines if line.startswith("VmHWM:"))
    return kibibytes / 1024


def _reference(address: str, mail: Peer) -> float:
    """Seconds that a request for each recipient takes."""
    link, service = links(), mailer(address)
    composer = Composer(
        Recap(mode=Mode.PERSONAL, letterhead=LETTERHEAD, event_name="Summer Party"),
        new_word=lambda: uuid.uuid4().hex,
        bytes_per_recipient=service.bytes_per_recipient,
    )
    pictures = [Picture(_address("thumbs", n), _address("photos", n)) for n in range(2)]

    def send(number: int) -> None:
        to = Recipient(
            address=guest(number),
            name=f"Guest {number}",
            links=link(guest(number)),
            pictures=pictures,
            photo_count=len(pictures),
        )
        assert isinstance(service.send(composer.message([to])), Accepted)

    with ThreadPoolExecutor(REFERENCE_THREADS) as threads:
        list(threads.map(send, range(REFERENCE_RECIPIENTS)))
    traffic: Traffic = mail.ask("traffic")
    assert traffic.requests == REFERENCE_RECIPIENTS
    return traffic.seconds


def _print(case: Case, costs: list[Cost], counted: Operations) -> None:
    def median(name: str) -> float:
        return statistics.median(float(getattr(cost, name)) for cost in costs)

    dispatch = statistics.median(cost.mail.seconds for cost in costs)
    (requests,) = {cost.mail.requests for cost in costs}
    print(f"{GUESTS:,} guests, {case}   (median of {len(costs)})")
    print(f"  CPU of the function     {median('cpu'):8.2f} s")
    print(f"  the whole call          {median('wall'):8.2f} s")
    print(f"  dispatch                {dispatch:8.2f} s    (aim: at most {AIM_SECONDS})")
    print(
        f"  peak memory             {max(cost.peak for cost in costs):8.0f} MiB  "
        f"(aim: at most {AIM_MEBIBYTES}; {median('idle'):.0f} before the call)"
    )
    print(f"  mail requests           {requests:8}")
    print(
        f"  Firestore               {counted.rpcs:8} calls, {counted.reads:,} reads, "
        f"{counted.writes} writes"
    )


if __name__ == "__main__":
    main()
