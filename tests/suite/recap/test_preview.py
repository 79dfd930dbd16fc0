"""`previewEventRecap`, deployed: called over HTTP, with a real ID token (spec 4.9, 7.4)."""

import uuid

from emulator.accounts import sign_in
from emulator.mailbox import Mailbox
from tests.suite.preferences.test_sdk import call as sdk_call
from tests.suite.wall_client import TENANT, Wall


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
