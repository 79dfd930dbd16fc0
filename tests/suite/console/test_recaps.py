"""A recap, from looking at it to having sent it."""

from datetime import UTC, datetime, timedelta

from emulator.mailbox import Mailbox
from functions.email_address import address_hash, guest_uid
from functions.mail.mail_status import DeliveryStatus
from functions.recap.delivery_status import entries_of
from tests.suite.console.conftest import Browser, Login
from tests.suite.wall_client import Wall

PHONE_PIXELS = 362
"""The width of a phone, with the frame around it."""


def test_a_moderator_previews_and_sends_a_recap(
    browser: Browser,
    moderator: Login,
    admin: Login,
    wall: Wall,
    mailbox: Mailbox,
) -> None:
    """A preview sends nothing, or one email to the moderator. Scripts in the email do not run."""
    wall.publish(name="Sommerfest", status="archived")
    names = {f"{name}@{wall.id}.example.com": name.title() for name in ("anna", "ben")}
    guests = set(names)
    gone = f"gone@{wall.id}.example.com"
    record = wall.db.document("users", guest_uid(address_hash(gone)))
    record.set({"unreachableUntil": datetime.now(UTC) + timedelta(days=1)})
    wall.photos(
        *({"uploaderEmail": guest, "uploaderName": name} for guest, name in names.items()),
        {"uploaderEmail": gone},
        {"uploaderEmail": gone, "status": "pending"},
    )
    ben = max(guests)

    seen = browser.make("recap", admin=admin, moderator=moderator, eventId=wall.id, guest=ben)

    assert seen["previews"] == 1
    assert wall.event.get().get("language") == "de"
    assert wall.event.get().get("replyTo") == admin["email"]
    assert "Language\nDeutsch" in seen["facts"]
    assert f"Reply-to\n{admin['email']}" in seen["facts"]
    assert seen["again"]["subject"] == "Thank you for coming"
    assert "Thank you <b>all</b>!" in seen["again"]["mail"]
    assert seen["mail"]["active"] == 0
    assert seen["mail"]["isStyled"]
    assert (wall.event.get().get("accentColor"), seen["mail"]["pictures"]) == ("#0b1f4d", 2)
    assert seen["phoneWidth"] <= PHONE_PIXELS
    assert seen["mail"]["origin"] == "null"
    assert "Up to 3 guests will get an email, not counting those who opted out." in seen["asked"]
    assert "Photos still awaiting approval: 1." in seen["asked"]
    assert "2 emails sent." in seen["card"]
    everybody, newcomers = seen["to"]
    assert "Up to 3 guests will get an email" in everybody
    assert "2 of them already got a recap" in everybody
    assert "Up to 1 guest will get an email" in newcomers
    assert "of them already got a recap" not in newcomers
    assert "Tomorrow at 10:00 (" in seen["planning"]
    assert f"by {moderator['email']}." in seen["planned"]
    assert "Recap scheduled" not in seen["canceled"]
    schedule = wall.event.collection("schedules").document("recap").get().to_dict() or {}
    assert (schedule["state"], schedule["onlyNew"]) == ("cancelled", True)
    mails = mailbox.emails
    assert [mail.to for mail in mails[:1]] == [moderator["email"]]
    assert {mail.to for mail in mails[1:]} == guests
    assert "Thank you for coming" in seen["card"]
    assert f"Sent by {moderator['email']}." in seen["card"]

    (recap,) = wall.event.collection("recaps").get()
    recap.reference.update({"delivered": 1, "bounced": 1})
    statuses = {
        address_hash(ben): DeliveryStatus.BOUNCED,
        address_hash(min(guests)): DeliveryStatus.DELIVERED,
    }
    recap.reference.collection("outcomes").document("mails").set({"entries": entries_of(statuses)})

    for who in (admin, moderator):
        told = browser.make("unreached", person=who, eventId=wall.id)
        assert "1 delivered, 1 bounced." in told
        assert f"Ben {ben}: bounced" in told
        assert "Anna" not in told
