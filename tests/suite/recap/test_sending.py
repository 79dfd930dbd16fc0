"""Who gets which mail (spec 1.1, 4.1)."""

import hashlib
import json
import re
import uuid
from collections.abc import Callable

from itsdangerous.encoding import base64_decode

from emulator.mailbox import Mailbox
from emulator.people import Person, sign_in
from tests.suite.call import Answer, call
from tests.suite.recap.wall import TENANT, Wall

Recap = Callable[..., Answer]


def test_a_personal_recap_shows_a_guest_their_own_photos(
    wall: Wall, mailbox: Mailbox, recap: Recap
) -> None:
    """Spec 1.1; personal is the default."""
    wall.photos(
        {"uploaderEmail": "anna@example.com", "uploaderName": "Anna"},
        {"uploaderEmail": "ben@example.com"},
        {"uploaderEmail": "anna@example.com", "thumbUrl": None},
        {"uploaderEmail": "ben@example.com", "url": "javascript:alert(1)", "thumbUrl": "data:,"},
    )
    recap()
    (anna,), (ben,) = mailbox.to("anna@example.com"), mailbox.to("ben@example.com")
    assert anna.subject == "Your photos from Summer Party"
    for part, greeting in ((anna.html, "Hi <bdi>Anna</bdi>,"), (anna.text, "Hi Anna,")):
        assert greeting in part
        assert "https://example.com/photos/1.jpg" in part
        assert "https://example.com/photos/3.jpg" in part
        assert "photos/2.jpg" not in part
    assert 'src="https://example.com/thumbs/1.jpg"' in anna.html
    assert 'src="https://example.com/photos/3.jpg"' in anna.html
    assert "https://example.com/gallery/summer" in anna.html
    assert "photos/2.jpg" in ben.html
    assert "javascript:" not in ben.html + ben.text
    assert "data:," not in ben.html


def test_an_all_recap_shows_everybody_the_highlight_reel(
    wall: Wall, mailbox: Mailbox, recap: Recap
) -> None:
    """Design 3.50: featured first, then the newest approved, 24 at most."""
    wall.photos(
        {"uploaderEmail": "anna@example.com", "featured": True, "uploaderName": "Anna"},
        *({} for _ in range(28)),
        {"uploaderEmail": "ben@example.com"},
    )
    assert recap(mode="all").result == {"sent": 2, "skipped": 0}
    assert len({mail.text.split("\n", 1)[1].split("--")[0] for mail in mailbox.mails}) == 1
    mail = mailbox.mails[0]
    assert mail.subject == "The best photos of Summer Party"
    shown = [line for line in mail.text.splitlines() if line.startswith("https://example.com/ph")]
    newest = [f"https://example.com/photos/{n}.jpg" for n in range(30, 7, -1)]
    assert shown == ["https://example.com/photos/1.jpg", *newest]
    assert "and 6 more in the gallery" in mail.html
    assert 'alt="Photo by Anna"' in mail.html


def test_every_mail_can_be_unsubscribed_from_by_one_click(
    wall: Wall, mailbox: Mailbox, recap: Recap
) -> None:
    """RFC 8058; the link is the recipient's own, and its token can do nothing else."""
    wall.guests(2)
    recap()
    links = {mail.headers["List-Unsubscribe"] for mail in mailbox.mails}
    assert len(links) == 2
    for mail in mailbox.mails:
        assert mail.headers["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
        one_click = mail.headers["List-Unsubscribe"].strip("<>")
        assert one_click.startswith("http://127.0.0.1:5000/unsubscribe?token=")
        [page] = set(re.findall(r"http://127\.0\.0\.1:5000/preferences#token=[\w.-]+", mail.text))
        assert page in mail.html
        header, shown = (_fields(link.partition("token=")[2]) for link in (one_click, page))
        assert header["uid"] == shown["uid"]
        assert (header["scope"], shown["scope"]) == ("unsubscribe", "email-prefs")


def _fields(token: str) -> dict[str, str]:
    payload = token.partition(".")[0]
    fields: dict[str, str] = json.loads(base64_decode(payload))
    return fields


def _guest_id(email: str) -> str:
    return "guest-" + hashlib.sha256(email.encode()).hexdigest()[:32]


def test_an_opt_out_in_any_record_of_an_address_counts(
    wall: Wall, mailbox: Mailbox, recap: Recap
) -> None:
    """Spec 4.1, rule 3: by the guest's own record, or that of any account with the address."""
    users = wall.db.collection("users")
    guest, account, one_of_two, odd = (f"{uuid.uuid4().hex}@example.com" for _ in range(4))
    users.document(_guest_id(guest)).set({"emailPreferences": {"recap": False}})
    for address, preferences in (
        (account, {"lifecycle": False}),
        (one_of_two, {"recap": False}),
        (one_of_two, {"recap": True}),
        (odd, "none"),
    ):
        record = {"email": address, "emailPreferences": preferences}
        users.document(uuid.uuid4().hex).set(record)
    addresses = (guest.upper(), account, one_of_two, odd)
    wall.photos(*({"uploaderEmail": address} for address in addresses))
    assert recap().result == {"sent": 1, "skipped": 3}
    assert [mail.to for mail in mailbox.mails] == [odd]


def test_a_superadmin_sends_for_the_tenant_that_the_call_names(
    wall: Wall, mailbox: Mailbox
) -> None:
    """Spec 4.1, rule 6; `tests/unit/test_access.py` has every row of design 3."""
    wall.guests(1)
    token = sign_in("superadmin", "tenant-2").id_token
    wanted = {"eventId": wall.id, "tenantId": TENANT}
    assert call("sendEventRecap", wanted, id_token=token).result["sent"] == 1
    assert len(mailbox.mails) == 1


def test_the_record_tells_mode_who_and_how_many(
    wall: Wall, mailbox: Mailbox, recap: Recap, organizer: Person
) -> None:
    """Design 4; no address of a guest is in it or in the ledger."""
    wall.photos({"uploaderEmail": "anna@example.com"}, {"uploaderEmail": "no address"})
    recap(mode="all")
    (record,) = wall.recaps()
    expected = {"mode": "all", "startedBy": organizer.uid, "sent": 1, "skipped": 1, "left": 0}
    expected["startedByEmail"] = organizer.email
    assert {name: record[name] for name in expected} == expected
    assert record["state"] == "sent"
    (batch,) = wall.batches()
    assert batch["state"] == "accepted"
    assert batch["recipients"] == [_guest_id("anna@example.com").removeprefix("guest-")]
    assert "anna@" not in json.dumps([record, batch], default=str)
    assert len(mailbox.mails) == 1
