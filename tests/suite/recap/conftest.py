"""A mailbox in the place of SendGrid, an event, and its organizer."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from google.cloud import firestore

from emulator.mailbox import PORT, Mailbox
from emulator.people import Person, sign_in
from tests.suite.call import Answer, call
from tests.suite.process import background_triggers_off
from tests.suite.recap.wall import TENANT, Wall


@pytest.fixture(scope="session", autouse=True)
def _no_webhooks() -> Iterator[None]:
    """Photos are written by the thousand, and after the tests of triggers: none is to run."""
    with background_triggers_off():
        yield


@pytest.fixture
def mailbox() -> Iterator[Mailbox]:
    """Where the mails of a test arrive."""
    with Mailbox(port=PORT) as running:
        yield running


@pytest.fixture
def wall(db: firestore.Client, event: firestore.DocumentReference) -> Wall:
    """An event that is published and has no photos yet."""
    made = Wall(db, event)
    made.publish()
    made.forget_mails()
    return made


@pytest.fixture(scope="session")
def organizer() -> Person:
    """An admin of the event's tenant."""
    return sign_in("admin", TENANT)


@pytest.fixture
def recap(wall: Wall, organizer: Person) -> Callable[..., Answer]:
    """Call `sendEventRecap` for the event, as its organizer."""

    def send(**arguments: Any) -> Answer:
        return call(
            "sendEventRecap", {"eventId": wall.id, **arguments}, id_token=organizer.id_token
        )

    return send
