"""The console in a real browser."""

import itertools
import json
import uuid
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import pytest
from google.cloud import firestore

from emulator.people import sign_in
from tests.suite.browser import Driver
from tests.suite.records import failed_delivery

SITE: Final = "http://127.0.0.1:5000"
TENANT: Final = f"tenant-{uuid.uuid4().hex[:8]}"
"""The console's alone: a page of its events holds them all."""
PASSWORD: Final = "correct horse"

Login = dict[str, str]
"""E-mail address and password."""
Event = firestore.DocumentReference
Configure = Callable[..., None]
Record = Callable[..., str]
Receiving = Callable[..., Any]


class Browser:
    """Makes the journeys of this folder."""

    def __init__(self, driver: Driver) -> None:
        """From an address that has called nothing yet, as Google's front end would tell it."""
        digits = uuid.uuid4().int
        address = f"10.{digits & 255}.{digits >> 8 & 255}.{digits >> 16 & 255}"
        self._headers = {"X-Forwarded-For": address}
        self._driver = driver

    def make(self, journey: str, *, refusals: int = 0, **given: Any) -> Any:
        """What the journey found; so many calls failed, and nothing else was amiss."""
        answer = self._driver.make(f"console/{journey}", self._headers, site=SITE, **given)
        refused = [
            problem for problem in answer["problems"] if "Failed to load resource" in problem
        ]
        assert (answer["problems"], len(refused)) == (refused, refusals)
        return answer["found"]


@pytest.fixture(scope="session")
def browser(driver: Driver) -> Browser:
    """Where the console is opened."""
    return Browser(driver)


def staff(role: str | None, tenant: str | None = TENANT) -> Login:
    """Somebody of that role, as they sign in."""
    email = f"{role or 'nobody'}-{uuid.uuid4().hex[:8]}@example.com"
    sign_in(role, tenant, email=email, password=PASSWORD)
    return {"email": email, "password": PASSWORD}


@pytest.fixture(scope="session")
def admin() -> Login:
    """An admin of the event's tenant."""
    return staff("admin")


@pytest.fixture(scope="session")
def moderator() -> Login:
    """A moderator of it."""
    return staff("moderator")


@pytest.fixture(scope="session")
def superadmin() -> Login:
    """A superadmin of it."""
    return staff("superadmin")


@pytest.fixture(scope="session")
def stranger() -> Login:
    """An admin of another tenant."""
    return staff("admin", "tenant-b")


@pytest.fixture(scope="session")
def nobody() -> Login:
    """Somebody without a role."""
    return staff(None, None)


@pytest.fixture
def configure(event: Event) -> Configure:
    """Make the event one of the tenant's, with these webhook URLs."""

    def write(*urls: Any, **further: Any) -> None:
        event.set({"tenantId": TENANT, "name": "Garden party", "status": "draft"})
        settings = event.collection("settings").document("webhooks")
        settings.set({"urls": list(urls)} | further)

    return write


@pytest.fixture
def record(event: Event) -> Iterator[Record]:
    """Record a delivery as it stands once it has ended; it is deleted after the test."""
    made: list[Event] = []
    numbers = itertools.count(1)

    def put(url: str, *, minutes_ago: float = 60.0, **fields: Any) -> str:
        number = next(numbers)
        delivery_id = str(uuid.uuid5(uuid.NAMESPACE_URL, f"{event.id} {number}"))
        ended = datetime.now(UTC) - timedelta(minutes=minutes_ago)
        created = ended - timedelta(seconds=40)
        body = {
            "event": "photo.uploaded",
            "eventId": event.id,
            "deliveryId": delivery_id,
            "timestamp": created.isoformat(),
            "data": {"photo": {"id": f"photo-{number}", "uploaderName": "Ann"}},
        }
        reference = event.collection("deliveries").document(delivery_id)
        text = json.dumps(body, separators=(",", ":"))
        reference.set(failed_delivery(url, text, ended) | fields)
        made.append(reference)
        return delivery_id

    yield put
    for attempt in made:
        attempt.delete()
