"""The rules, loaded, and the people who come to them."""

import uuid

import pytest

from tests.suite.rules.cast import Cast, Who, signed_in
from tests.suite.rules.client import ADMINISTRATOR, Client, load_rules
from tests.suite.rules.samples import event
from tools.paths import ROOT


@pytest.fixture(scope="session", autouse=True)
def rules() -> str:
    """Return the text of firestore.rules, which the emulator applies from now on."""
    text = (ROOT / "firestore.rules").read_text()
    load_rules(text)
    return text


@pytest.fixture(scope="session")
def cast() -> Cast:
    """Everybody, signed in once."""
    return signed_in()


@pytest.fixture
def wall() -> str:
    """Return the path of a published event that only this test uses."""
    path = f"events/event-{uuid.uuid4().hex[:12]}"
    ADMINISTRATOR.replace(path, event())
    return path


@pytest.fixture
def guest(cast: Cast) -> Client:
    """Return the guest who uploads the photos."""
    return cast[Who.UPLOADER]


@pytest.fixture
def moderator(cast: Cast) -> Client:
    """Return a moderator of the event's tenant."""
    return cast[Who.MODERATOR]


@pytest.fixture
def admin(cast: Cast) -> Client:
    """Return an admin of the event's tenant."""
    return cast[Who.ADMIN]
