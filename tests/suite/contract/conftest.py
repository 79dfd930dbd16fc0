"""An event with staff, receivers, records of deliveries, and links to their logs."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import pytest
from google.cloud import firestore

from emulator.people import Person, sign_in
from tests.suite.call import call
from tests.suite.records import failed_delivery

TENANT: Final = "tenant-a"
URL: Final = "https://example.com/hook?key=of-the-receiver"
OTHER: Final = "https://example.com/other"

Configure = Callable[..., None]
Record = Callable[..., firestore.DocumentReference]
Named = Callable[[str], str]
Share = Callable[..., dict[str, Any]]


@pytest.fixture(scope="module")
def admin() -> Person:
    """An admin of the event's tenant, with the calls of an hour for each file of tests."""
    return sign_in("admin", TENANT)


@pytest.fixture
def configure(event: firestore.DocumentReference) -> Configure:
    """Make the event one of the tenant's, with these webhook URLs."""

    def write(*urls: Any, **further: Any) -> None:
        event.set({"tenantId": TENANT, "name": "Garden party", "status": "draft"})
        settings = event.collection("settings").document("webhooks")
        settings.set({"urls": list(urls)} | further)

    return write


@pytest.fixture
def named(event_id: str) -> Named:
    """Ids of deliveries, by a name for this test: tasks are known by them in the whole suite."""
    return lambda name: f"{name}-{event_id}"


@pytest.fixture
def record(event: firestore.DocumentReference, named: Named) -> Iterator[Record]:
    """Record a delivery as it stands once it has ended; it is deleted after the test.

    Deliveries with a due attempt would be the sweeper's business for ever.
    """
    made: list[firestore.DocumentReference] = []

    def put(url: str, name: str = "d1", **fields: Any) -> firestore.DocumentReference:
        delivery_id = named(name)
        ended = datetime.now(UTC) - timedelta(hours=1)
        reference: firestore.DocumentReference = event.collection("deliveries").document(
            delivery_id
        )
        body = f'{{"deliveryId":"{delivery_id}"}}'
        reference.set(failed_delivery(url, body, ended) | fields)
        made.append(reference)
        return reference

    yield put
    for attempt in made:
        attempt.delete()


@pytest.fixture
def share(event: firestore.DocumentReference, configure: Configure, admin: Person) -> Share:
    """Have the admin give out a link to a URL; the answer, and the token in the link."""
    configure(URL, OTHER)

    def give_out(url: str = URL, **fields: Any) -> dict[str, Any]:
        wanted = {"eventId": event.id, "url": url} | fields
        result: dict[str, Any] = call("shareWebhookLog", wanted, id_token=admin.id_token).result
        return result | {"token": result["link"].partition("#token=")[2]}

    return give_out
