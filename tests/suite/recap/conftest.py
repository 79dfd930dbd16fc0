"""A mailbox in the place of SendGrid, an event, and its organizer."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from emulator.accounts import Account, sign_in
from tests.suite.call import Answer, call
from tests.suite.preferences.test_browser import browse
from tests.suite.process import FunctionProcess, silenced
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


@pytest.fixture(scope="session")
def small_batches() -> Iterator[FunctionProcess]:
    """`sendEventRecap` with ten mails a request and fifty a call."""
    with FunctionProcess("sendEventRecap", source="tests/suite/recap/small_batches.py") as process:
        yield process


@pytest.fixture
def small_recap(
    wall: Wall, organizer: Account, small_batches: FunctionProcess
) -> Callable[..., Answer]:
    """Call that function for the event, as its organizer."""

    def send(port: int = small_batches.port) -> Answer:
        data = {"eventId": wall.id}
        return call("", data, id_token=organizer.id_token, at=f"http://127.0.0.1:{port}/")

    return send


@pytest.fixture
def recap(wall: Wall, organizer: Account) -> Callable[..., Answer]:
    """Call `sendEventRecap` for the event, as its organizer."""

    def send(**arguments: Any) -> Answer:
        return call(
            "sendEventRecap", {"eventId": wall.id, **arguments}, id_token=organizer.id_token
        )

    return send
