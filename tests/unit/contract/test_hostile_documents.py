"""No document makes a trigger, an attempt, a sweep or a recap fail: it would be repeated for days.

Each field of each document gets each hostile value. The rules prevent most of them, but scripts can
write any value.
"""

import itertools
import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import pytest

from functions.firestore.model import Document, Put
from functions.preferences.preferences import AddressRecords, address_record_id
from functions.wall.public_wall import public_fields
from functions.wall.retention import due_at
from functions.wall.wall_event import Photo, WallEvent
from functions.webhooks.deliveries.attempt_task import AttemptRequest
from functions.webhooks.endpoints.endpoint_sweep import EndpointSweep
from functions.webhooks.events import EventType
from tests.unit.contract.hostile_arguments import VALUES
from tests.unit.recap import recap_fixture as recap
from tests.unit.webhooks.webhook_fixture import EVENT, NOW, URL, WebhookFixture

VALUES_OF_DOCUMENTS: Final = (
    *(value for value in VALUES if value != 10**30),  # Firestore's integers have 64 bits
    *(2**63 - 1, b"bytes", float("nan"), float("inf"), datetime.min.replace(tzinfo=UTC)),
    *(datetime.max.replace(tzinfo=UTC), "x" * 100_000, ["x"] * 1000, {"a.b": {"c/d": [{}]}}),
    *("a\r\nBcc: b@example.com", "<script>", "{{ name }}", "-name-", "a@b@c", "@", "a@\u2100.com"),
)
PHOTO: Final = {
    "status": "approved",
    "url": "https://example.com/1.jpg",
    "thumbUrl": "https://example.com/1_400x400.jpg",
    "featured": True,
    "uploaderName": "Ann",
    "uploaderEmail": "ann@example.com",
    "uploaderUid": "u1",
    **dict.fromkeys(("createdAt", "approvedAt", "rejectedAt"), NOW - timedelta(minutes=1)),
    **dict.fromkeys(("approvedBy", "rejectedBy", "reason"), "mod@example.com"),
}
WALL_EVENT: Final = {
    "tenantId": "t1",
    "name": "Party",
    "template": "garden",
    "status": "archived",
    "galleryUrl": "https://example.com",
    "publishedAt": NOW,
    "archivedAt": NOW,
    "language": "en",
    "replyTo": "ann@example.com",
    "keepGuestDataDays": 1,
    "logoUrl": "https://example.com/logo.png",
    "accentColor": "#0b1f4d",
}
SETTINGS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "urls": lambda value: {"urls": value},
    "an entry": lambda value: {"urls": [value, URL]},
    "the URL of an entry": lambda value: {"urls": [{"url": value}, URL]},
    "the events of an entry": lambda value: {"urls": [{"url": URL, "events": value}]},
    "the id of an entry": lambda value: {"urls": [{"url": URL, "id": value}]},
    "an id of two entries": lambda value: {"urls": [{"url": URL, "id": value}, {"id": value}]},
    "recover": lambda value: {"urls": [URL], "recover": value},
    "an entry of recover": lambda value: {"urls": [URL], "recover": [value, URL]},
    "notify": lambda value: {"urls": [URL], "notify": value},
    "an entry of notify": lambda value: {"urls": [URL], "notify": [value]},
    "disabled": lambda value: {"urls": [URL], "disabled": value},
    "an entry of disabled": lambda value: {"urls": [URL], "disabled": {URL: value}},
    "off": lambda value: {"urls": [URL], "off": value},
    "labels": lambda value: {"urls": [URL], "labels": value},
    "urlsChangedAt": lambda value: {"urls": [URL], "urlsChangedAt": value},
}


def check_bodies(webhooks: WebhookFixture) -> None:
    """Assert that each body is JSON in UTF-8."""
    for record in webhooks.records:
        json.dumps(json.loads(record.body), allow_nan=False, ensure_ascii=False).encode()


def fail(webhooks: WebhookFixture) -> None:
    """Let all attempts of all deliveries fail, and run the sweeps."""
    webhooks.answers = [500] * 1000
    for task in webhooks.queued:  # an attempt queues the next one
        webhooks.now = max(webhooks.now, task.due)
        if task.queue != "sendWebhookNotice":
            webhooks.process().worker.attempt(AttemptRequest.read(task.data))
    webhooks.process().sweeper.sweep()
    sweep: EndpointSweep = webhooks.process().endpoint_sweep
    sweep.sweep()


@pytest.mark.parametrize("field", PHOTO)
def test_no_photo_stops_a_trigger(field: str) -> None:
    """Upload the photo, change it to a valid one and back, and delete it."""
    webhooks = WebhookFixture()
    webhooks.subscribe({"url": URL, "events": list(EventType)})
    for number, value in enumerate(VALUES_OF_DOCUMENTS):
        webhooks.put(f"events/{EVENT}/photos/{number}", PHOTO | {field: value})
        hostile, valid = (
            Photo.read(str(number), fields, created=NOW, updated=NOW)
            for fields in (PHOTO | {field: value}, PHOTO | {"status": "pending"})
        )
        for before, after in itertools.pairwise([None, hostile, valid, hostile, None]):
            write = f"{number} {before} {after}"
            webhooks.process().publisher.photo_written(write, EVENT, before, after)
        public_fields(Document("events/e1/photos/p1", PHOTO | {field: value}, 1, created=NOW))
    check_bodies(webhooks)


@pytest.mark.parametrize("field", WALL_EVENT)
def test_no_event_stops_a_trigger(field: str) -> None:
    """Create, publish and archive the event, and compute its timer."""
    webhooks = WebhookFixture()
    for value in VALUES_OF_DOCUMENTS:
        webhooks.put(f"events/{EVENT}", WALL_EVENT | {field: value})
        states = [{"status": status} | {field: value} for status in ("published", "archived")]
        events = [WallEvent.read(WALL_EVENT | state, updated=NOW) for state in states]
        for before, after in itertools.pairwise([None, *events]):
            webhooks.process().publisher.event_written(f"{before} {after}", EVENT, before, after)
        due_at(Document("events/e1", WALL_EVENT | {field: value}, 1, created=NOW))
    check_bodies(webhooks)


@pytest.mark.parametrize("place", SETTINGS)
def test_no_settings_stop_a_trigger_an_attempt_or_a_sweep(place: str) -> None:
    """Run an upload, four failed attempts and the sweep of the failing endpoint."""
    for value in VALUES_OF_DOCUMENTS:
        webhooks = WebhookFixture()
        webhooks.put(f"events/{EVENT}/settings/webhooks", SETTINGS[place](value))
        webhooks.process().publisher.photo_written("w1", EVENT, None, webhooks.photo())
        fail(webhooks)


@pytest.mark.parametrize("mode", ["personal", "all"])
@pytest.mark.parametrize("field", PHOTO)
def test_no_photo_stops_a_recap(field: str, mode: str) -> None:
    """A guest with a valid photo still gets the email."""
    fixture = recap.RecapFixture()
    for number, value in enumerate(VALUES_OF_DOCUMENTS):
        path = f"events/{recap.EVENT}/photos/{number}"
        fixture.documents.commit(Put(path, PHOTO | {field: value}))
    fixture.photo("valid@example.com")
    fixture.send(mode=mode)
    assert "valid@example.com" in fixture.addresses


@pytest.mark.parametrize("field", sorted(WALL_EVENT.keys() - {"tenantId"}))
def test_no_event_stops_a_recap(field: str) -> None:
    """Its name and language are in every email. The subject is one line."""
    for value in VALUES_OF_DOCUMENTS:
        fixture = recap.RecapFixture()
        event = {"tenantId": recap.TENANT, field: value}
        fixture.documents.commit(Put(f"events/{recap.EVENT}", event))
        fixture.photo("valid@example.com")
        fixture.send()
        [(_, message)] = fixture.mails
        assert len(message.subject.splitlines()) == 1


@pytest.mark.parametrize("field", ["email", "emailPreferences", "lifecycle", "recap"])
def test_no_record_of_a_user_stops_a_recap_or_a_lookup(field: str) -> None:
    """Run the trigger of users, a lookup and a recap."""
    fixture = recap.RecapFixture()
    fixture.photo("ann@example.com")
    fixture.photo("valid@example.com")
    for number, value in enumerate(VALUES_OF_DOCUMENTS):
        record = {"email": "ann@example.com", "emailPreferences": {"recap": True, field: value}}
        record |= {field: value} if field.startswith("email") else {}
        address_record_id(record)
        found = AddressRecords(accounts={"u1": record})
        assert (type(found.email), len(found.flags({}))) == (str, 3)
        fixture.documents.commit(Put(f"users/{number}", record))
    fixture.send()
    assert "valid@example.com" in fixture.addresses
