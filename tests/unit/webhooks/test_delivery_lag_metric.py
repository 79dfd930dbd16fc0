"""`lagMs` of `delivery.attempted`: how long after it was owed an attempt begins."""

import json
from dataclasses import replace
from datetime import timedelta

import pytest

from functions.wall.wall_event import EventStatus, Photo, WallEvent
from functions.webhooks.deliveries.delivery import Delivery
from tests.unit.webhooks.webhook_fixture import EVENT, NOW, URL, WebhookFixture


@pytest.fixture
def webhooks(webhooks: WebhookFixture) -> WebhookFixture:
    """An event with one URL that takes uploads."""
    webhooks.subscribe({"url": URL, "events": ["photo.uploaded"]})
    return webhooks


def lags(capfd: pytest.CaptureFixture[str]) -> list[tuple[int, int]]:
    """Number and `lagMs` of every attempt since the last look."""
    lines = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
    return [
        (line["attempt"], line["lagMs"])
        for line in lines
        if line["message"] == "delivery.attempted"
    ]


def uploaded(webhooks: WebhookFixture) -> Delivery:
    """An upload at `NOW` whose trigger runs three seconds later; its delivery."""
    photo = webhooks.photo()
    webhooks.now += timedelta(seconds=3)
    webhooks.process().publisher.photo_written("write-1", EVENT, None, photo)
    [delivery] = webhooks.records
    return delivery


def test_a_first_attempt_lags_behind_the_write_and_a_retry_behind_its_due_time(
    webhooks: WebhookFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    """The trigger's own wait counts; a retry that comes early is held back and does not lag."""
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


def test_what_is_sent_again_lags_behind_that(
    webhooks: WebhookFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    """The first attempt of a redelivery lags behind the resend, not behind a write of last week."""
    delivery = webhooks.attempts(uploaded(webhooks), 204)
    webhooks.now += timedelta(days=7)
    webhooks.process().actions.resend(EVENT, delivery.id)
    lags(capfd)
    webhooks.now += timedelta(seconds=1)
    webhooks.attempt(delivery, in_round=1)

    assert lags(capfd) == [(1, 1000)]


def test_a_test_and_a_record_that_knows_no_write_lag_behind_their_making(
    webhooks: WebhookFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    """A test tells of no write, and a record of an earlier version has not kept it."""
    webhooks.process().url_test.send_test(EVENT, URL)
    delivery = webhooks.delivery()
    webhooks.now += timedelta(seconds=1)
    webhooks.attempt(delivery)

    assert lags(capfd) == [(1, 0), (1, 1000)]


def test_a_clock_that_is_behind_makes_no_lag(
    webhooks: WebhookFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    """Firestore's time of the write may be later than ours."""
    delivery = uploaded(webhooks)
    webhooks.now = NOW - timedelta(milliseconds=1)
    webhooks.stored.save(replace(webhooks.record(delivery), next_attempt_at=webhooks.now))
    webhooks.attempt(delivery)

    assert lags(capfd) == [(1, 0)]


def test_every_message_knows_its_write(webhooks: WebhookFixture) -> None:
    """All types, those that an upload is the first of as well."""
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
