"""A mailbox in the place of SendGrid, an event, and its organizer."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from emulator.accounts import Account, sign_in
from tests.suite.call import Answer, call
from tests.suite.preferences.test_browser import browse
from tests.suite.process import silenced
from tests.suite.wall_client import TENANT, Wall

__all__ = ["browse"]


@pytest.fixture
def wall(wall: Wall) -> Iterator[Wall]:
    """Return a published event without photos. No trigger runs for its photos."""
    with silenced(wall.id):
        wall.publish()
        wall.forget_mails()
        yield wall


@pytest.fixture(scope="session")
def organizer() -> Account:
    """Return an admin of the event's tenant."""
    return sign_in("admin", TENANT)


@pytest.fixture
def recap(wall: Wall, organizer: Account) -> Callable[..., Answer]:
    """Call `sendEventRecap` for the event, as its organizer."""

    def send(**arguments: Any) -> Answer:
        return call(
            "sendEventRecap", {"eventId": wall.id, **arguments}, id_token=organizer.id_token
        )

    return send
