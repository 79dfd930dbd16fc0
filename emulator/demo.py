"""The main job on a small made-up event: photos go in, signed webhooks come out.

An event with three receivers: one healthy, one that fails twice and recovers, one that is dead.
Guests upload, a moderator approves, the recap goes to a local mailbox, and every delivery is
followed to its end. The dead receiver's last attempt comes last.
"""

import json
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any
from urllib.parse import urlsplit

from google.cloud import firestore

from emulator import accounts
from emulator.firestore_watch import wait_for
from emulator.mailbox import Mailbox
from emulator.receiver import Request
from emulator.sample_event import ANN, EVENT, TENANT, SampleEvent
from emulator.stand_ins import StandIns

FINAL = {"success", "failed", "skipped"}
# Seconds. The dead receiver is given up 36 after its first attempt; the rest is for slow machines.
DEADLINE = 150.0
# Two mails are reported within two.
TOLD_WITHIN = 60.0
# Published at two URLs, three uploads at two, two approvals at two, two guests at one.
DELIVERIES = 14
GUESTS = 2
STATUSES = ("delivered", "bounced", "dropped", "complained")

_PREFERENCES = re.compile(r"https?://\S+/preferences#token=[A-Za-z0-9._-]+")


def run(stand_ins: StandIns) -> int:
    """Run the demo and print what happened.

    Returns:
        0 when everything went as the specification says.
    """
    began = time.monotonic()
    sample = SampleEvent(stand_ins)

    _say(
        "\nAn event with four webhook URLs: /ok, /flaky (fails twice), /dead, and one without TLS."
    )
    sample.configure()
    _say("It is published; its receiver gets:")
    sample.publish()
    stand_ins.receiver.wait_for(lambda seen: any(request.verified for request in seen), DEADLINE)
    _say("Two guests upload three photos; a moderator approves two.")
    sample.upload()
    sample.approve()
    problems = _recap(stand_ins.mailbox, sample.event)
    _say("\nTo look at in a browser until the dead receiver is given up, after half a minute:")
    _say(f"  the mails             {stand_ins.mailbox.url}/")
    _say(f"  Ann's preferences     {_preferences_link(stand_ins.mailbox)}\n")
    deliveries = wait_for(sample.event.collection("deliveries"), _have_ended, DEADLINE)
    rows = [_row(delivery, stand_ins.receiver.requests) for delivery in deliveries]
    print(_table(rows), flush=True)
    problems += [problem for row in rows if (problem := _problem(row))]
    if len(rows) != DELIVERIES:
        problems.append(f"{len(rows)} deliveries instead of {DELIVERIES}")
    for problem in problems:
        _say(f"Not as specified: {problem}")
    _say(f"Done in {time.monotonic() - began:.0f} s.")
    return 1 if problems else 0


def show(request: Request) -> None:
    """Print a webhook as its receiver saw it."""
    verdict = f"signature WRONG: {request.problem}" if request.problem else "signature verified"
    _say(
        f"  {request.event_type:16} {request.path:7} attempt {request.attempt}"
        f"  {verdict}, answered {request.status}"
    )


@dataclass(frozen=True, slots=True)
class Row:
    """The outcome of one delivery.

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
    seen = [request for request in requests if request.delivery_id == delivery["id"]]
    return Row(
        event=delivery["event"],
        path=urlsplit(delivery["url"]).path,
        outcome=delivery["outcome"],
        attempts=len(seen),
        waits=tuple(later.monotonic - earlier.monotonic for earlier, later in pairwise(seen)),
        verified=all(request.verified for request in seen) if seen else None,
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


def _recap(mailbox: Mailbox, event: firestore.DocumentReference) -> list[str]:
    """Send the recap to both guests, and a second one that is refused; what went wrong."""
    _say("An admin sends the recap, and tries once more:")
    admin = accounts.sign_in("admin", TENANT)
    arguments = {"eventId": EVENT, "message": "Thank you for coming!\nSee you next year."}
    sent = accounts.call("sendEventRecap", arguments, admin)
    again = accounts.call("sendEventRecap", arguments, admin)
    _say(f"  {json.dumps(sent)}")
    _say(f"  {json.dumps(again)}")
    for mail in mailbox.mails:
        _say(f"  mail to {mail.to}: {mail.subject}")
    problems = []
    known = _outcomes(event)
    told = ", ".join(f"{count} {name}" for name, count in known.items())
    _say(f"  the mail service has reported them: {told}")
    if known != {"delivered": GUESTS, "bounced": 0, "dropped": 0, "complained": 0}:
        problems.append(f"recap: {GUESTS} mails were delivered, {known} is recorded")
    if sent.get("result", {}).get("sent") != GUESTS or len(mailbox.mails) != GUESTS:
        problems.append(f"recap: {len(mailbox.mails)} mails to {GUESTS} guests")
    if again.get("error", {}).get("status") != "RESOURCE_EXHAUSTED":
        problems.append("recap: a second one within 24 hours was not refused")
    if any("List-Unsubscribe" not in mail.headers for mail in mailbox.mails):
        problems.append("recap: a mail cannot be unsubscribed from")
    if not _preferences_link(mailbox):
        problems.append("recap: a mail has no link to the preferences")
    return problems


def _outcomes(event: firestore.DocumentReference) -> dict[str, int]:
    """The counts of the event's recap, once its mails have been reported."""
    [recap] = wait_for(event.collection("recaps"), _are_told, TOLD_WITHIN)
    return {status: recap[status] for status in STATUSES}


def _are_told(recaps: Sequence[Mapping[str, Any]]) -> bool:
    told: int = sum(recap.get(status, 0) for recap in recaps for status in STATUSES)
    return told >= GUESTS


def _have_ended(deliveries: Sequence[Mapping[str, Any]]) -> bool:
    return sum(delivery["outcome"] in FINAL for delivery in deliveries) >= DELIVERIES


def _preferences_link(mailbox: Mailbox) -> str:
    found = (_PREFERENCES.search(mail.text) for mail in mailbox.to(ANN.email))
    return next((match[0] for match in found if match), "")


def _say(text: str) -> None:
    # In one piece: the receiver's threads speak as well.
    print(f"{text}\n", end="", flush=True)
