"""Fixtures of all tests in the emulator suite."""

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
from tests.suite.wall_client import Wall
from tools import local_secrets

_LIMIT_TEST_SECONDS: Final = 60
_ADDRESSES = itertools.count(int(uuid.uuid4().hex[:6], 16))


@pytest.fixture(scope="session")
def db() -> firestore.Client:
    """Return a plain Firestore client, as used by an administrator's script."""
    return firestore.Client(project=os.environ["GCLOUD_PROJECT"])


@pytest.fixture
def database() -> firestore.Client:
    """Return a database that only this test uses, in a project without triggers."""
    return firestore.Client(project=f"demo-alone-{uuid.uuid4().hex[:8]}")


@pytest.fixture
def counted() -> Operations:
    """Return counters for this test."""
    return Operations()


@pytest.fixture
def event_id() -> str:
    """Return the ID of an event that only this test uses."""
    return f"event-{uuid.uuid4().hex[:12]}"


@pytest.fixture
def event(db: firestore.Client, event_id: str) -> firestore.DocumentReference:
    """Return the reference of the event's document, which does not exist yet."""
    reference: firestore.DocumentReference = db.collection("events").document(event_id)
    return reference


@pytest.fixture
def wall(db: firestore.Client, event: firestore.DocumentReference) -> Iterator[Wall]:
    """Yield the test's event with its records."""
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
    """Start the browser of all tests."""
    if CHROMIUM is None:
        pytest.skip("needs a browser: apt install chromium-headless-shell")
    with contextlib.closing(Driver()) as started:
        yield started


@pytest.fixture(scope="session")
def secret() -> str:
    """Return the key that signs links in the local suite."""
    return local_secrets.read()["EMAIL_PREFS_KEY"]


@pytest.fixture(scope="session")
def keys(secret: str) -> TokenKeys:
    """Return that key as a signer of tokens."""
    return TokenKeys([secret])


@pytest.fixture
def client() -> str:
    """Address of a client that has called nothing yet."""
    number = next(_ADDRESSES)
    return f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"


@pytest.fixture
def headers(client: str) -> dict[str, str]:
    """Return the headers that Google's front end adds to this client's requests."""
    return {"X-Forwarded-For": client}


@pytest.fixture
def uid() -> str:
    """Return a user that only this test uses, without a record."""
    return f"user-{uuid.uuid4().hex[:12]}"


@pytest.fixture
def record(db: firestore.Client, uid: str) -> firestore.DocumentReference:
    """Return the reference of the user's record."""
    reference: firestore.DocumentReference = db.collection("users").document(uid)
    return reference


@pytest.fixture
def token(keys: TokenKeys, uid: str) -> str:
    """Return a token as in that user's emails."""
    return keys.issue(uid, datetime.now(UTC))


@pytest.fixture
def one_click_token(keys: TokenKeys, uid: str) -> str:
    """Return a token as in the unsubscribe header of that user's emails."""
    return keys.issue(uid, datetime.now(UTC), Scope.UNSUBSCRIBE)


@pytest.fixture
def old_token(keys: TokenKeys, uid: str) -> str:
    """One from a mail of more than 30 days ago."""
    return keys.issue(uid, datetime.now(UTC) - timedelta(days=30, seconds=1))


@pytest.fixture
def one_hour() -> None:
    """Wait out the end of an hour, because calls are counted by the hours of the clock.

    Otherwise a test of the limit could begin just before the next hour. No event of the service
    reports the end of an hour.
    """
    left = 3600 - time.time() % 3600
    if left < _LIMIT_TEST_SECONDS:
        time.sleep(left)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put what has begun before other tests behind them, and the look at all output last."""

    def place(item: pytest.Item) -> tuple[bool, bool]:
        return item.path.name == "test_output.py", "last" in item.keywords

    items.sort(key=place)
