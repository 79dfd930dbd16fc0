"""`python3 -m emulator demo`: photos go in, signed webhooks come out.

The sample event has a healthy receiver, one that fails twice and recovers, and a dead one. Guests
upload photos, a moderator approves two, and the recap goes to the local mailbox. The demo ends
with the last attempt at the dead receiver.
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
# The dead receiver's delivery fails after 36 seconds. The rest is for slow machines.
DEADLINE_SECONDS = 150.0
REPORT_DEADLINE_SECONDS = 60.0
# event.published at two URLs, three uploads at two, two approvals at two, two guests at one.
DELIVERIES = 14
GUESTS = 2
STATUSES = ("delivered", "bounced", "dropped", "complained")

_PREFERENCES = re.compile(r"https?://\S+/preferences#token=[A-Za-z0-9._-]+")


def run(stand_ins: StandIns) -> int:
    """Run the demo and print what happened.

    Returns:
        The exit status: 0 if everything happened as specified.
    """
    started = time.monotonic()
    sample = SampleEvent(stand_ins)

    _say(
        "\nAn event with four webhook URLs: /ok, /flaky (fails twice), /dead, and one without TLS."
    )
    sample.configure()
    _say("The event is published. The receiver gets:")
    sample.publish()
    stand_ins.receiver.wait_for(
        lambda requests: any(request.verified for request in requests), DEADLINE_SECONDS
    )
    _say("Two guests upload three photos. A moderator approves two.")
    sample.upload()
    sample.approve()
    problems = _recap(stand_ins.mailbox, sample.event)
    _say("\nFor half a minute, until the last attempt at /dead, you can open in a browser:")
    _say(f"  the emails            {stand_ins.mailbox.url}/")
    _say(f"  Ann's preferences     {_preferences_link(stand_ins.mailbox)}\n")
    deliveries = wait_for(sample.event.collection("deliveries"), _all_ended, DEADLINE_SECONDS)
    rows = [_row(delivery, stand_ins.receiver.requests) for delivery in deliveries]
    print(_table(rows), flush=True)
    problems += [problem for row in rows if (problem := _problem(row))]
    if len(rows) != DELIVERIES:
        problems.append(f"{len(rows)} deliveries instead of {DELIVERIES}")
    for problem in problems:
        _say(f"Not as specified: {problem}")
    _say(f"Done in {time.monotonic() - started:.0f} s.")
    return 1 if problems else 0


def show(request: Request) -> None:
    """Print a webhook request as the receiver saw it."""
    verdict = f"signature WRONG: {request.problem}" if request.problem else "signature verified"
    _say(
        f"  {request.event_type:16} {request.path:7} attempt {request.attempt}"
        f"  {verdict}, answered {request.status}"
    )


@dataclass(frozen=True, slots=True)
class Row:
    """The outcome of one delivery.

    Attributes:
        waits: Seconds between the requests that the receiver saw.
        verified: Whether every signature was valid, or None without a request.
    """

    event: str
    path: str
    outcome: str
    attempts: int
    waits: tuple[float, ...]
    verified: bool | None


# The outcome and the number of attempts for each receiver (spec 3.4).
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
    """Send the recap to both guests and try a second one. Return the problems."""
    _say("An admin sends the recap, and then tries to send it again:")
    admin = accounts.sign_in("admin", TENANT)
    arguments = {"eventId": EVENT, "message": "Thank you for coming!\nSee you next year."}
    sent = accounts.call("sendEventRecap", arguments, admin)
    again = accounts.call("sendEventRecap", arguments, admin)
    _say(f"  {json.dumps(sent)}")
    _say(f"  {json.dumps(again)}")
    for email in mailbox.emails:
        _say(f"  email to {email.to}: {email.subject}")
    problems = []
    counts = _email_counts(event)
    shown = ", ".join(f"{count} {name}" for name, count in counts.items())
    _say(f"  status of the emails, as the email provider reported it: {shown}")
    if counts != {"delivered": GUESTS, "bounced": 0, "dropped": 0, "complained": 0}:
        problems.append(f"recap: {GUESTS} emails were delivered, but {counts} is recorded")
    if sent.get("result", {}).get("sent") != GUESTS or len(mailbox.emails) != GUESTS:
        problems.append(f"recap: {len(mailbox.emails)} emails to {GUESTS} guests")
    if again.get("error", {}).get("status") != "RESOURCE_EXHAUSTED":
        problems.append("recap: a second recap within 24 hours was not rejected")
    if any("List-Unsubscribe" not in email.headers for email in mailbox.emails):
        problems.append("recap: an email has no List-Unsubscribe header")
    if not _preferences_link(mailbox):
        problems.append("recap: an email has no link to the preferences")
    return problems


def _email_counts(event: firestore.DocumentReference) -> dict[str, int]:
    """Wait for the delivery reports and return the recap's counts."""
    [recap] = wait_for(event.collection("recaps"), _all_reported, REPORT_DEADLINE_SECONDS)
    return {status: recap[status] for status in STATUSES}


def _all_reported(recaps: Sequence[Mapping[str, Any]]) -> bool:
    reported: int = sum(recap.get(status, 0) for recap in recaps for status in STATUSES)
    return reported >= GUESTS


def _all_ended(deliveries: Sequence[Mapping[str, Any]]) -> bool:
    return sum(delivery["outcome"] in FINAL for delivery in deliveries) >= DELIVERIES


def _preferences_link(mailbox: Mailbox) -> str:
    found = (_PREFERENCES.search(email.text) for email in mailbox.to(ANN.email))
    return next((match[0] for match in found if match), "")


def _say(text: str) -> None:
    # One write, because the receiver's threads print as well.
    print(f"{text}\n", end="", flush=True)
