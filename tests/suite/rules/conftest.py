"""The rules, loaded, and the people who come to them."""

import uuid
from pathlib import Path
from typing import Final

import pytest

from tests.suite.rules.cast import Cast, Who
from tests.suite.rules.client import Client, load_rules
from tests.suite.rules.samples import event

RULES: Final = Path(__file__).parents[3] / "firestore.rules"


@pytest.fixture(scope="session", autouse=True)
def rules() -> str:
    """The text of firestore.rules, which the emulator applies from now on."""
    text = RULES.read_text()
    load_rules(text)
    return text


@pytest.fixture(scope="session")
def cast() -> Cast:
    """Everybody, signed in once."""
    return Cast()


@pytest.fixture(scope="session")
def administrator() -> Client:
    """Who puts the documents of a test in place."""
    return Client.administrator()


@pytest.fixture
def wall(administrator: Client) -> str:
    """Path of a published event of this test alone."""
    path = f"events/event-{uuid.uuid4().hex[:12]}"
    administrator.replace(path, event())
    return path


@pytest.fixture
def guest(cast: Cast) -> Client:
    """The guest whose photos the tests are about."""
    return cast.client(Who.UPLOADER)


@pytest.fixture
def moderator(cast: Cast) -> Client:
    """A moderator of the event's tenant."""
    return cast.client(Who.MODERATOR)


@pytest.fixture
def admin(cast: Cast) -> Client:
    """An admin of the event's tenant."""
    return cast.client(Who.ADMIN)
