"""`previewEventRecap`, deployed: called over HTTP, with a real ID token (spec 4.9, 7.4)."""

import json
import uuid
from collections.abc import Callable
from typing import Any

import pytest

from emulator.accounts import Account, sign_in
from emulator.mailbox import Mailbox
from emulator.pictures import BUCKET
from tests.suite.call import Answer, call
from tests.suite.preferences.test_sdk import call as sdk_call
from tests.suite.wall_client import TENANT, Wall


@pytest.fixture
def preview(wall: Wall, organizer: Account) -> Callable[..., Answer]:
    """Call it for the event, as its organizer or another person."""

    def show(caller: Account = organizer, **arguments: Any) -> Answer:
        data = {"eventId": wall.id, **arguments}
        return call("previewEventRecap", data, id_token=caller.id_token)

    return show


def test_a_preview_is_shown_emailed_and_then_sent(
    wall: Wall,
    mailbox: Mailbox,
    organizer: Account,
    preview: Callable[..., Answer],
    recap: Callable[..., Answer],
) -> None:
    """Spec 4.9: the preview is the mail that the caller gets, and then the guest."""
    photo = {"uploaderEmail": "anna@example.com", "uploaderName": "Anna"}
    wall.photos(photo, photo, {"uploaderEmail": "ben@example.com"}, {"uploaderEmail": "no address"})
    shown = preview(message="Thank you!").result
    assert (shown["recipients"], shown["left"]) == (2, 0)
    assert "skipped" not in shown
    assert shown["from"] == '"Summer Party via Photo Wall" <photos@example.com>'
    assert shown["replyTo"] == "Photo Wall Team <hello@example.com>"
    assert "blocked" not in shown
    assert "mailed" not in shown
    assert [*wall.event.collection("recaps").list_documents()] == []
    assert not wall.lock.get().exists

    assert preview(message="Thank you!", sendToMe=True).result == shown | {"mailed": True}
    (mine,) = mailbox.emails
    assert (mine.to, mine.subject) == (organizer.email, "[Preview] Your photos: Summer Party")
    assert (mine.text, mine.html) == (shown["text"], shown["html"])
    for part in (
        "Hi <bdi>Anna</bdi>,",
        "https://example.com/gallery/summer",
        f"{BUCKET}small-1.jpg",
    ):
        assert part in mine.html
    assert not any(name.lower().startswith("list-unsubscribe") for name in mine.headers)
    assert "token=" not in mine.text + mine.html
    reply_to = {"email": "hello@example.com", "name": "Photo Wall Team"}
    assert json.loads(mailbox.requests[0].body)["reply_to"] == reply_to
    assert mine.text.endswith("\n\nPhoto Wall, 1 Example Street, 12345 Example City")

    assert recap(message="Thank you!").result == {"sent": 2, "skipped": 1}
    annas = next(mail for mail in mailbox.emails if mail.to == "anna@example.com")
    assert annas.text.partition("#token=")[0] == shown["text"].partition("/preferences")[0] + (
        "/preferences"
    )
    after = preview().result
    assert after["blocked"]["code"] == "resource-exhausted"
    assert after["recipients"] == 2


def test_the_sdk_gets_a_preview(wall: Wall, mailbox: Mailbox) -> None:
    """Spec 1: as a page of the product calls it, signed in with a password."""
    wall.guests(1)
    password = uuid.uuid4().hex
    person = sign_in("admin", TENANT, password=password)
    asked = {"eventId": wall.id, "sendToMe": True}
    answer = sdk_call("previewEventRecap", asked, person.email, password)
    assert answer["result"]["mailed"] is True
    assert [mail.to for mail in mailbox.emails] == [person.email]
    nobody = sdk_call("previewEventRecap", asked | {"guest": "x"}, person.email, password)
    assert nobody["code"] == "functions/not-found"
