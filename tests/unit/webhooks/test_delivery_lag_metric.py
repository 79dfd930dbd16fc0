"""`lagMs` of `delivery.attempted`: the time from when an attempt was due until it starts."""

import json
from dataclasses import replace
from datetime import timedelta

import pytest

from functions.wall.wall_event import EventStatus, Photo, WallEvent
from functions.webhooks.deliveries.delivery import Delivery
from tests.unit.webhooks.webhook_fixture import EVENT, NOW, URL, WebhookFixture


@pytest.fixture
def webhooks(webhooks: WebhookFixture) -> WebhookFixture:
    """Return an event with one URL that subscribes to uploads."""
    webhooks.subscribe({"url": URL, "events": ["photo.uploaded"]})
    return webhooks


def lags(capfd: pytest.CaptureFixture[str]) -> list[tuple[int, int]]:
    """Return number and `lagMs` of every attempt since the last call."""
    lines = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
    return [
        (line["attempt"], line["lagMs"])
        for line in lines
        if line["message"] == "delivery.attempted"
    ]


def uploaded(webhooks: WebhookFixture) -> Delivery:
    """Upload a photo at `NOW`, run its trigger three seconds later, and return the delivery."""
    photo = webhooks.photo()
    webhooks.now += timedelta(seconds=3)
    webhooks.process().publisher.photo_written("write-1", EVENT, None, photo)
    [delivery] = webhooks.records
    return delivery


def test_a_first_attempt_lags_behind_the_write_and_a_retry_behind_its_due_time(
    webhooks: WebhookFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    """Count the wait of the trigger. A retry that comes early is held back and does not lag."""
    delivery = uploaded(webhooks)
    waits = [
        timedelta(seconds=2.5),
        timedelta(seconds=1.7),
        timedelta(seconds=4.6),
        timedelta(seconds=42),
    ]
    for number, wait in enumerate(waits, start=1):
        webhooks.now += wait
        webhooks.answers = [500]
        webhooks.attempt(delivery, number)

    assert lags(capfd) == [(1, 5500), (2, 700), (3, 0), (4, 12_000)]


def test_a_redelivery_lags_behind_the_resend(
    webhooks: WebhookFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    """Do not count the time since the write, which may be a week."""
    delivery = webhooks.attempts(uploaded(webhooks), 204)
    webhooks.now += timedelta(days=7)
    webhooks.process().actions.resend(EVENT, delivery.id)
    lags(capfd)
    webhooks.now += timedelta(seconds=1)
    webhooks.attempt(delivery, in_round=1)

    assert lags(capfd) == [(1, 1000)]


def test_a_delivery_without_a_write_time_lags_behind_its_creation(
    webhooks: WebhookFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    """A test has no write, and records of earlier versions do not contain its time."""
    webhooks.process().url_test.send_test(EVENT, URL)
    delivery = webhooks.delivery()
    webhooks.now += timedelta(seconds=1)
    webhooks.attempt(delivery)

    assert lags(capfd) == [(1, 0), (1, 1000)]


def test_the_lag_is_never_negative(
    webhooks: WebhookFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    """Firestore's time of the write may be later than the service's clock."""
    delivery = uploaded(webhooks)
    webhooks.now = NOW - timedelta(milliseconds=1)
    webhooks.stored.save(replace(webhooks.record(delivery), next_attempt_at=webhooks.now))
    webhooks.attempt(delivery)

    assert lags(capfd) == [(1, 0)]


def test_deliveries_of_every_event_type_have_the_time_of_their_write(
    webhooks: WebhookFixture,
) -> None:
    """Include milestones and new guests, which are found at an upload."""
    webhooks.subscribe(URL)
    webhooks.earlier_photos(99)
    photo = webhooks.photo(email="ann@example.com")
    event = WallEvent.read({"status": "draft"}, updated=NOW)
    published = replace(event, status=EventStatus.PUBLISHED)
    archived = replace(event, status=EventStatus.ARCHIVED)
    webhooks.now += timedelta(seconds=3)
    publisher = webhooks.process().publisher
    publisher.photo_written("w1", EVENT, None, photo)
    publisher.photo_written("w2", EVENT, photo, _moderated(photo, "approved"))
    publisher.photo_written("w3", EVENT, photo, _moderated(photo, "rejected"))
    publisher.event_written("w4", EVENT, event, published)
    publisher.event_written("w5", EVENT, published, archived)

    assert len({record.event_type for record in webhooks.records}) == 7
    assert {(record.created_at - NOW, record.written_at) for record in webhooks.records} == {
        (timedelta(seconds=3), NOW)
    }


def _moderated(photo: Photo, status: str) -> Photo:
    return Photo.read(photo.id, {"status": status}, created=NOW, updated=NOW)
