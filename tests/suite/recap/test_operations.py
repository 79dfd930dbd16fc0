"""What a recap costs, as exact numbers: a change that costs more shows itself here.

Calls and documents are counted at the client; they are the same on every machine.
"""

import os
import uuid
from collections import Counter

import pytest

from emulator.mailbox import Mailbox
from functions.access import Caller, Role
from functions.recap.arguments import PreviewArguments, RecapArguments
from functions.recap.report import RecapResult
from functions.recap.send_recap import RecapSender
from tests.suite.costs import COSTS
from tests.suite.operations import Operations, counting_client, counting_documents
from tests.suite.recap.sender import ORGANIZER, recap_preview, recap_sender
from tests.suite.recap.wall import TENANT, Wall


@pytest.mark.parametrize(
    ("what", "guests", "calls"),
    [
        (
            "a recap of 5 guests",
            5,
            {
                "BatchGetDocuments": 4,  # event; lock; 5 guest records; the tenant's mails
                "RunQuery": 2,  # the photos; 5 addresses of accounts
                "BeginTransaction": 1,  # of the lock
                "Commit": 6,  # take; mails; plan; a batch started, settled; release
            },
        ),
        (
            "a recap of 5,000 guests",
            5000,
            {
                "BatchGetDocuments": 13,  # event, lock, mails; 500 guest records a call
                "RunQuery": 169,  # 3000 photos and 30 addresses a query
                "BeginTransaction": 1,
                "Commit": 14,  # take, mails, plan, release; each of 5 batches started and settled
            },
        ),
    ],
)
def test_a_recap(
    wall: Wall,
    mailbox: Mailbox,
    what: str,
    guests: int,
    calls: dict[str, int],
) -> None:
    """Two reads for each guest, everything else by the page: 500, 30 or 1000 of them."""
    wall.guests(guests)
    counted = Operations()
    sent = _counting_sender(wall, mailbox, counted).send(ORGANIZER, _wanted(wall))
    assert sent == RecapResult(sent=guests, skipped=0)
    assert counted.calls == Counter(calls)
    assert counted.cost(mail_requests=len(mailbox.requests)) == COSTS[what]


@pytest.mark.parametrize(
    ("what", "guests", "mailed", "calls"),
    [
        (
            "a preview of a recap of 5 guests",
            5,
            False,
            {
                "BatchGetDocuments": 4,  # event; lock; 5 guest records; the tenant's mails
                "RunQuery": 2,  # the photos; 5 addresses of accounts
            },
        ),
        (
            "a preview of a recap of 5,000 guests",
            5000,
            False,
            {"BatchGetDocuments": 13, "RunQuery": 169},
        ),
        (
            "a preview of 5 guests, mailed",
            5,
            True,
            {"BatchGetDocuments": 4, "RunQuery": 2, "Commit": 1},
        ),
    ],
)
def test_a_preview(
    wall: Wall, mailbox: Mailbox, what: str, guests: int, mailed: bool, calls: dict[str, int]
) -> None:
    """Reads what a recap reads, and writes nothing but the count of what is mailed."""
    wall.guests(guests)
    counted = Operations()
    caller = Caller(uuid.uuid4().hex, Role.ADMIN, TENANT)
    wanted = PreviewArguments(event_id=wall.id, send_to_me=mailed)
    project, host = wall.db.project, os.environ["FIRESTORE_EMULATOR_HOST"]
    preview = recap_preview(
        counting_client(project, host, counted),
        counting_documents(project, host, counted),
        mailbox.url,
    ).show(caller, wanted, "organizer@example.com")
    assert (preview.recipients, preview.mailed) == (guests, mailed or None)
    assert counted.calls == Counter(calls)
    assert counted.cost(mail_requests=len(mailbox.requests)) == COSTS[what]


def test_more_photos_of_the_same_guests(wall: Wall, mailbox: Mailbox) -> None:
    """One read for each photo, and no call more."""
    wall.photos(*({"uploaderEmail": "ann@example.com"} for _ in range(1200)))
    counted = Operations()
    _counting_sender(wall, mailbox, counted).send(ORGANIZER, _wanted(wall))
    assert (counted.rpcs, counted.reads, counted.writes) == (13, 1200 + 6, 12)
    assert len(mailbox.requests) == 1


def _counting_sender(wall: Wall, mailbox: Mailbox, counted: Operations) -> RecapSender:
    project, host = wall.db.project, os.environ["FIRESTORE_EMULATOR_HOST"]
    client = counting_client(project, host, counted)
    return recap_sender(client, counting_documents(project, host, counted), mailbox.url)


def _wanted(wall: Wall) -> RecapArguments:
    return RecapArguments.read({"eventId": wall.id})
