"""What every test inside the emulator suite needs."""

import contextlib
import itertools
import os
import time
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Final

import pytest
from google.cloud import firestore

from emulator.mailbox import PORT, Mailbox
from functions.links.token import Scope, TokenKeys
from tests.suite.browser import CHROMIUM, Driver
from tests.suite.operations import Operations
from tests.suite.walls import Wall
from tools import local_secrets

_LIMIT_TEST_SECONDS: Final = 30
_ADDRESSES = itertools.count(int(uuid.uuid4().hex[:6], 16))


@pytest.fixture(scope="session")
def db() -> firestore.Client:
    """A plain Firestore client, as an administrator's script would use it."""
    return firestore.Client(project=os.environ["GCLOUD_PROJECT"])


@pytest.fixture
def counted() -> Operations:
    """The counts of this test."""
    return Operations()


@pytest.fixture
def event_id() -> str:
    """An event of this test alone."""
    return f"event-{uuid.uuid4().hex[:12]}"


@pytest.fixture
def event(db: firestore.Client, event_id: str) -> firestore.DocumentReference:
    """The reference of that event's document, which does not exist yet."""
    reference: firestore.DocumentReference = db.collection("events").document(event_id)
    return reference


@pytest.fixture
def wall(db: firestore.Client, event: firestore.DocumentReference) -> Iterator[Wall]:
    """The test's own event, with the records below it."""
    made = Wall(db, event)
    yield made
    made.forget_deliveries()


@pytest.fixture
def mailbox() -> Iterator[Mailbox]:
    """Where the mails of a test arrive."""
    with Mailbox(port=PORT) as running:
        yield running


@pytest.fixture(scope="session")
def driver() -> Iterator[Driver]:
    """The browser of all tests."""
    if CHROMIUM is None:
        pytest.skip("needs a browser: apt install chromium")
    with contextlib.closing(Driver()) as started:
        yield started


@pytest.fixture(scope="session")
def secret() -> str:
    """The key that the functions of the local suite sign with."""
    return local_secrets.read()["EMAIL_PREFS_KEY"]


@pytest.fixture(scope="session")
def keys(secret: str) -> TokenKeys:
    """That key, as tokens are made with it."""
    return TokenKeys([secret])


@pytest.fixture
def client() -> str:
    """Address of a client that has called nothing yet."""
    number = next(_ADDRESSES)
    return f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"


@pytest.fixture
def headers(client: str) -> dict[str, str]:
    """What Google's front end adds to that client's requests."""
    return {"X-Forwarded-For": client}


@pytest.fixture
def uid() -> str:
    """A user of this test alone, without a record."""
    return f"user-{uuid.uuid4().hex[:12]}"


@pytest.fixture
def record(db: firestore.Client, uid: str) -> firestore.DocumentReference:
    """The reference of that user's record."""
    reference: firestore.DocumentReference = db.collection("users").document(uid)
    return reference


@pytest.fixture
def token(keys: TokenKeys, uid: str) -> str:
    """A token as it stands in that user's mails."""
    return keys.issue(uid, datetime.now(UTC))


@pytest.fixture
def one_click_token(keys: TokenKeys, uid: str) -> str:
    """A token as it stands in the unsubscribe header of that user's mails."""
    return keys.issue(uid, datetime.now(UTC), Scope.UNSUBSCRIBE)


@pytest.fixture
def old_token(keys: TokenKeys, uid: str) -> str:
    """One from a mail of more than 30 days ago."""
    return keys.issue(uid, datetime.now(UTC) - timedelta(days=30, seconds=1))


@pytest.fixture
def one_hour() -> None:
    """Calls are counted by the clock's hours: a test of the limit does not begin just before one.

    Some seconds in an hour are waited out; nothing in the service could tell of the hour's end.
    """
    left = 3600 - time.time() % 3600
    if left < _LIMIT_TEST_SECONDS:
        time.sleep(left)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put what has begun before other tests behind them, and the look at all output last."""

    def place(item: pytest.Item) -> tuple[bool, bool]:
        return item.path.name == "test_output.py", "last" in item.keywords

    items.sort(key=place)
