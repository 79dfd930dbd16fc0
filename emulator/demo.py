"""The main job on a small made-up event: photos go in, signed webhooks come out.

An event with three receivers: one healthy, one that fails twice and recovers, one that is dead.
Guests upload, a moderator approves, and every delivery is followed to its end. Then the recap goes
to a local mailbox.
"""

from __future__ import annotations

import json
import threading
import time
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from google.cloud import firestore

from emulator import people
from emulator.suite import PROJECT

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from emulator.mailbox import Mailbox
    from emulator.receiver import Request
    from emulator.stand_ins import StandIns
    from emulator.suite import Suite

EVENT = "midsummer"
FINAL = {"success", "failed", "skipped"}
# The dead receiver is given up 36 seconds after its first attempt; the rest is for slow machines.
DEADLINE = 150.0
GUESTS = 2


def run(suite: Suite, stand_ins: StandIns) -> int:
    """Run the demo and print what happened.

    Returns:
        0 when everything went as the specification says.
    """
    del suite  # its addresses are in the environment already
    began = time.monotonic()
    database = firestore.Client(project=PROJECT)
    event = database.collection("events").document(EVENT)
    receiver = stand_ins.receiver

    _say("An event with four webhook URLs: /ok, /flaky (fails twice), /dead, and one without TLS.")
    event.collection("settings").document("webhooks").set(
        {
            "urls": [
                receiver.url("/ok"),
                {"url": receiver.url("/flaky"), "events": ["photo.uploaded"]},
                {"url": receiver.url("/dead"), "events": ["photo.approved"]},
                {"url": "http://localhost/plain", "events": ["event.published"]},
            ],
        },
    )
    event.set({"tenantId": "demo", "name": "Midsummer", "template": "garden", "status": "draft"})
    watch = _Deliveries(event)
    _say("The event is published; two guests upload three photos; a moderator approves one.")
    event.update(
        {
            "status": "published",
            "publishedAt": firestore.SERVER_TIMESTAMP,
            "galleryUrl": "https://example.com/midsummer",
        },
    )
    photos = event.collection("photos")
    for photo_id, guest in (("photo-1", "Ann"), ("photo-2", "Ann"), ("photo-3", "Bob")):
        photos.document(photo_id).set(_photo(photo_id, guest))
    photos.document("photo-1").update(
        {
            "status": "approved",
            "approvedAt": firestore.SERVER_TIMESTAMP,
            "approvedBy": "moderator@example.com",
        },
    )
    # published at two URLs, three uploads at two, one approval at two, two guests at one
    deliveries = watch.wait_for_the_end_of(12, DEADLINE)
    watch.close()
    rows = [_row(one, receiver.requests) for one in deliveries]
    print(_table(rows), flush=True)
    problems = [problem for row in rows if (problem := _problem(row))]
    problems += _recap(event, stand_ins.mailbox)
    for problem in problems:
        _say(f"Not as specified: {problem}")
    _say(f"Done in {time.monotonic() - began:.0f} s.")
    return 1 if problems else 0


@dataclass(frozen=True, slots=True)
class Row:
    """What became of one delivery.

    Attributes:
        waits: Seconds between its requests as the receiver saw them.
        verified: Whether every signature was right; None where there was no request.
    """

    event: str
    path: str
    outcome: str
    attempts: int
    waits: tuple[float, ...]
    verified: bool | None


# What spec 3.4 makes of each receiver: outcome and attempts.
EXPECTED = {
    "/ok": ("success", 1),
    "/flaky": ("success", 3),
    "/dead": ("failed", 4),
    "/plain": ("skipped", 0),
}
HEADINGS = ("event", "receiver", "attempts", "seconds between them", "outcome", "signature")


def _row(delivery: Mapping[str, Any], requests: Sequence[Request]) -> Row:
    seen = [one for one in requests if one.delivery_id == delivery["id"]]
    return Row(
        event=delivery["event"],
        path=urlsplit(delivery["url"]).path,
        outcome=delivery["outcome"],
        attempts=len(seen),
        waits=tuple(later.monotonic - one.monotonic for one, later in pairwise(seen)),
        verified=all(one.verified for one in seen) if seen else None,
    )


def _problem(row: Row) -> str:
    if (row.outcome, row.attempts) != EXPECTED[row.path]:
        return f"{row.event} at {row.path}: {row.outcome} after {row.attempts} attempts"
    if any(waited < delay for waited, delay in zip(row.waits, (1, 5, 30), strict=False)):
        return f"{row.event} at {row.path}: an attempt came early"
    if row.verified is False:
        return f"{row.event} at {row.path}: a signature is wrong"
    return ""


def _table(rows: Sequence[Row]) -> str:
    cells = [HEADINGS] + [
        (
            row.event,
            row.path,
            str(row.attempts),
            "  ".join(f"{waited:.1f}" for waited in row.waits) or "-",
            row.outcome,
            {True: "verified", False: "WRONG", None: "-"}[row.verified],
        )
        for row in sorted(rows, key=lambda row: (list(EXPECTED).index(row.path), row.event))
    ]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = ["  ".join(map(str.ljust, line, widths)).rstrip() for line in cells]
    return "\n".join(["", lines[0], "  ".join("-" * width for width in widths), *lines[1:], ""])


def _recap(event: firestore.DocumentReference, mailbox: Mailbox) -> list[str]:
    """Send the recap to both guests, and a second one that is refused; what went wrong."""
    _say("The photos are approved; an admin sends the recap, and tries once more.")
    for photo in event.collection("photos").stream():
        photo.reference.update({"status": "approved"})
    admin = people.sign_in("admin", "demo")
    arguments = {"eventId": EVENT, "message": "Thank you for coming!\nSee you next year."}
    sent = people.call("sendEventRecap", arguments, admin)
    again = people.call("sendEventRecap", arguments, admin)
    _say(f"  {json.dumps(sent)}")
    _say(f"  {json.dumps(again)}")
    for mail in mailbox.mails:
        _say(f"  mail to {mail.to}: {mail.subject}")
    problems = []
    if sent.get("result", {}).get("sent") != GUESTS or len(mailbox.mails) != GUESTS:
        problems.append(f"recap: {len(mailbox.mails)} mails to {GUESTS} guests")
    if again.get("error", {}).get("status") != "RESOURCE_EXHAUSTED":
        problems.append("recap: a second one within 24 hours was not refused")
    if any("List-Unsubscribe" not in mail.headers for mail in mailbox.mails):
        problems.append("recap: a mail cannot be unsubscribed from")
    return problems


def _photo(photo_id: str, guest: str) -> dict[str, Any]:
    return {
        "status": "pending",
        "url": f"https://example.com/{photo_id}.jpg",
        "uploaderName": guest,
        "uploaderEmail": f"{guest.lower()}@example.com",
        "uploaderUid": guest.lower(),
        "createdAt": firestore.SERVER_TIMESTAMP,
    }


class _Deliveries:
    """The records of an event's deliveries, as they change."""

    def __init__(self, event: firestore.DocumentReference) -> None:
        self._changed = threading.Condition()
        self._records: list[dict[str, Any]] = []
        self._watch = event.collection("deliveries").on_snapshot(self._on_snapshot)

    def wait_for_the_end_of(self, count: int, timeout: float) -> list[dict[str, Any]]:
        """Wait until `count` deliveries have ended, `timeout` seconds at most; all there are."""
        with self._changed:
            self._changed.wait_for(lambda: self._ended() >= count, timeout)
            return self._records

    def close(self) -> None:
        """Stop watching."""
        self._watch.unsubscribe()

    def _ended(self) -> int:
        return sum(one["outcome"] in FINAL for one in self._records)

    def _on_snapshot(self, snapshots: Any, *_: object) -> None:
        with self._changed:
            records = [{**(one.to_dict() or {}), "id": one.id} for one in snapshots]
            for one in records:
                before = next((old for old in self._records if old["id"] == one["id"]), None)
                if before is None or before["outcome"] != one["outcome"]:
                    path = urlsplit(one["url"]).path
                    _say(f"  {one['event']:16} {path:7} {one['outcome']}")
            self._records = records
            self._changed.notify_all()


def _say(text: str) -> None:
    print(text, flush=True)
