"""A recap, from looking at it to having sent it."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from google.cloud import firestore

from emulator.mailbox import PORT, Mailbox
from functions.wall.address import address_hash, guest_uid
from tests.suite.console.conftest import TENANT, Browser
from tests.suite.recap.wall import Wall


@pytest.fixture
def mailbox() -> Iterator[Mailbox]:
    """Where the mails arrive."""
    with Mailbox(port=PORT) as running:
        yield running


def test_a_moderator_looks_at_a_recap_before_sending_it(
    browser: Browser,
    moderator: dict[str, str],
    db: firestore.Client,
    event: firestore.DocumentReference,
    mailbox: Mailbox,
) -> None:
    """Looking sends nothing, `to me` one mail, sending what was said before; a mail stays inert."""
    wall = Wall(db, event)
    wall.publish(tenantId=TENANT)
    guests = {f"{name}@{event.id}.example.com" for name in ("anna", "ben")}
    gone = f"gone@{event.id}.example.com"
    record = db.document("users", guest_uid(address_hash(gone)))
    record.set({"unreachableUntil": datetime.now(UTC) + timedelta(days=1)})
    wall.photos(*({"uploaderEmail": guest} for guest in (*guests, gone)))

    seen = browser.make("recap", moderator=moderator, eventId=event.id)

    assert seen["mail"]["active"] == 0
    assert seen["mail"]["isStyled"]
    assert seen["skipped"] == (
        "Skipped: 1 cannot be reached: a mail to the address came back for good."
    )
    assert "2 guests get a mail." in seen["asked"]
    assert "Sent\n2\n" in seen["card"].replace("\n\n", "\n")
    mails = mailbox.mails
    assert [mail.to for mail in mails[:1]] == [moderator["email"]]
    assert {mail.to for mail in mails[1:]} == guests
