"""What every test inside the emulator suite needs."""

import os
import uuid
from pathlib import Path

import pytest
from google.cloud import firestore


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


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put deleted events behind all others, then the recap, then the look at everybody's output.

    They write and delete photos by the thousand. The Firestore emulator works through the triggers
    of all of them one after the other, also where they are switched off, and whoever waits for a
    trigger meanwhile waits for minutes.
    """
    here = Path(__file__).parent

    def place(item: pytest.Item) -> tuple[bool, bool, bool]:
        folder = item.path.relative_to(here).parts[0]
        return item.path.name == "test_output.py", folder == "recap", folder == "wall"

    items.sort(key=place)
