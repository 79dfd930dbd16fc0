"""What every test inside the emulator suite needs."""

import contextlib
import os
import uuid
from collections.abc import Iterator

import pytest
from google.cloud import firestore

from emulator.mailbox import PORT, Mailbox
from tests.suite.browser import CHROMIUM, Driver


@pytest.fixture(scope="session")
def db() -> firestore.Client:
    """A plain Firestore client, as an administrator's script would use it."""
    return firestore.Client(project=os.environ["GCLOUD_PROJECT"])


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


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put what has begun before other tests behind them, and the look at all output last."""

    def place(item: pytest.Item) -> tuple[bool, bool]:
        return item.path.name == "test_output.py", "last" in item.keywords

    items.sort(key=place)
