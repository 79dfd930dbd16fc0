"""Exact cost of a recap in calls and documents. A change that costs more fails here.

Calls and documents are counted at the client, and are the same on every machine.
"""

import uuid

import pytest
from google.cloud import firestore

from bench.costs import COSTS, Cost
from emulator.mailbox import Mailbox
from functions.call.caller import Caller, Role
from functions.recap.recap_arguments import PreviewArguments, RecapArguments
from functions.recap.report import RecapResult
from tests.suite.operations import Operations, admit_staff, mailing_service
from tests.suite.wall_client import TENANT, Wall, guest

ORGANIZER = Caller("organizer", Role.ADMIN, TENANT)
READS = {
    5: {
        "BatchGetDocuments": 3,  # event and lock; 5 guest records; the tenant's emails of two days
        "RunQuery": 2,  # the photos; 5 addresses of accounts
    },
    5000: {
        # event and lock; 500 guest records a call; the tenant's emails of two days
        "BatchGetDocuments": 12,
        "RunQuery": 169,  # 3000 photos and 30 addresses a query
    },
}
"""Calls by method, for so many guests."""


@pytest.fixture
def wall(database: firestore.Client, event_id: str) -> Wall:
    """Return a published event without photos, in a project without triggers.

    The emulator announces one photo at a time. Thousands of them would delay the other tests.
    """
    wall = Wall(database, database.collection("events").document(event_id))
    wall.publish()
    return wall


@pytest.mark.parametrize(
    ("what", "guests", "commits"),
    [
        # the call; take; plan; a batch started, settled; release
        ("a recap of 5 guests", 5, 6),
        # the call, take, plan, release; each of 5 batches started and settled
        ("a recap of 5,000 guests", 5000, 14),
    ],
)
def test_the_cost_of_a_recap_and_its_preview(
    wall: Wall, mailbox: Mailbox, counted: Operations, what: str, guests: int, commits: int
) -> None:
    """Two reads for each guest, everything else by the page: 500, 30 or 1000 of them."""
    wall.guests(guests)
    assert _previewed(wall, mailbox, guests, mailed=False) == (
        COSTS[f"a preview of {what}"],
        READS[guests] | {"Commit": 1},
    )
    service = mailing_service(counted, mailbox, wall.db.project)
    admit_staff("sendEventRecap", service)
    sent = service.recap_sender.send(ORGANIZER, _wanted(wall))
    assert sent == RecapResult(sent=guests, skipped=0)
    transaction = {"GetDocument": 1, "BeginTransaction": 1, "Commit": commits}
    assert counted.calls == READS[guests] | transaction
    assert counted.cost(mail_requests=len(mailbox.requests)) == COSTS[what]
    assert {len(request.recipients) for request in mailbox.requests} == {min(guests, 1000)}
    assert {mail.to for mail in mailbox.emails} == {guest(n) for n in range(guests)}
    assert {batch["state"] for batch in wall.batches()} == {"accepted"}


def test_the_cost_of_an_emailed_preview(wall: Wall, mailbox: Mailbox) -> None:
    """A mailed preview costs one write more, which counts it."""
    wall.guests(5)
    assert _previewed(wall, mailbox, 5, mailed=True) == (
        COSTS["an emailed preview of a recap of 5 guests"],
        READS[5] | {"Commit": 2},
    )


def _previewed(
    wall: Wall, mailbox: Mailbox, guests: int, *, mailed: bool
) -> tuple[Cost, dict[str, int]]:
    """Preview a recap, and return its cost and the calls by method."""
    counted = Operations()
    caller = Caller(uuid.uuid4().hex, Role.ADMIN, TENANT)
    wanted = PreviewArguments(event_id=wall.id, send_to_me=mailed)
    service = mailing_service(counted, mailbox, wall.db.project)
    admit_staff("previewEventRecap", service)
    preview = service.recap_preview.show(caller, wanted, "organizer@example.com")
    assert (preview.recipients, preview.mailed) == (guests, mailed or None)
    return counted.cost(mail_requests=len(mailbox.requests)), dict(counted.calls)


def test_more_photos_of_the_same_guests_cost_only_their_reads(
    wall: Wall, mailbox: Mailbox, counted: Operations
) -> None:
    """Further photos of a guest cost one read each and no call."""
    wall.photos(*({"uploaderEmail": "ann@example.com"} for _ in range(1200)))
    mailing_service(counted, mailbox, wall.db.project).recap_sender.send(ORGANIZER, _wanted(wall))
    assert (counted.rpcs, counted.reads, counted.writes) == (12, 1200 + 7, 12)
    assert len(mailbox.requests) == 1


def _wanted(wall: Wall) -> RecapArguments:
    return RecapArguments.read({"eventId": wall.id})
