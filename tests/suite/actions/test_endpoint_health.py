"""When a URL is given up, and when not: the law of `webhooks/endpoint_health.py`, in Firestore.

Times are hours from now on: the settings are written now, the clock handed in is ahead.
"""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import pytest
from google.cloud import firestore

from functions.gcp.documents import documents
from functions.webhooks.attempts.endpoint_health import EndpointHealth
from functions.webhooks.deliveries.delivery import Delivery, Outcome
from functions.webhooks.deliveries.store import DeliveryStore
from functions.webhooks.messages.event_type import EventType
from functions.webhooks.notices.failure_marks import FailureMarks
from functions.webhooks.notices.store import NoticeStore
from functions.webhooks.recovery.outage_marks import OutageMarks
from functions.webhooks.recovery.store import StandingOrderStore
from functions.webhooks.settings.store import SettingsStore
from functions.webhooks.settings.webhook_settings import WebhookSettings
from tests.suite.operations import Operations

URL: Final = "https://example.com/hook"
OTHER: Final = "https://example.com/other"
START: Final = datetime.now(UTC)


def hours(after_start: float) -> datetime:
    """That many hours from now."""
    return START + timedelta(hours=after_start)


Record = Callable[..., Delivery]


@pytest.fixture
def settings(event: firestore.DocumentReference) -> firestore.DocumentReference:
    """The settings of an event with two URLs, just written."""
    reference: firestore.DocumentReference = event.collection("settings").document("webhooks")
    reference.set({"urls": [URL, OTHER]})
    return reference


@pytest.fixture
def record(event: firestore.DocumentReference) -> Record:
    """Put `count` deliveries on record that ended at an hour; the last of them."""

    def put(outcome: Outcome, ended: float, count: int = 1, url: str = URL) -> Delivery:
        made = [
            Delivery(
                id=f"{outcome}-{url[-4:]}-{ended}-{number}",
                event_id=event.id,
                event_type=EventType.PHOTO_UPLOADED,
                url=url,
                body="{}",
                created_at=hours(ended),
                outcome=outcome,
                attempts=4,
                ended_at=hours(ended),
            )
            for number in range(count)
        ]
        DeliveryStore(documents()).create(event.id, made)
        return made[-1]

    return put


def _health(settings: SettingsStore, at: float) -> EndpointHealth:
    return EndpointHealth(
        deliveries=DeliveryStore(documents()),
        settings=settings,
        marks=FailureMarks(
            notices=NoticeStore(documents()), enqueue=Operations().enqueue, now=lambda: hours(at)
        ),
        outages=OutageMarks(StandingOrderStore(documents()), lambda: hours(at)),
        now=lambda: hours(at),
        monotonic=time.monotonic,
    )


@pytest.fixture
def disabled(settings: firestore.DocumentReference) -> Callable[[Delivery, float], set[str]]:
    """Which URLs are disabled once a delivery has failed at an hour, and somebody has looked."""

    def look(failed: Delivery, at: float) -> set[str]:
        _health(SettingsStore(documents()), at).delivery_failed(failed)
        found = settings.get().to_dict() or {}
        return {
            subscription.url
            for subscription in WebhookSettings.read(found).subscriptions
            if subscription.disabled
        }

    return look


Disabled = Callable[[Delivery, float], set[str]]


def test_a_hundred_failures_over_five_days_disable_a_url(
    record: Record, disabled: Disabled, settings: firestore.DocumentReference
) -> None:
    """With the reason and the time, and that URL only."""
    record(Outcome.FAILED, 1, 99)
    failed = record(Outcome.FAILED, 121.5)

    assert disabled(failed, 122) == {URL}
    [entry] = settings.get().get("disabled").values()
    assert entry["url"] == URL
    assert entry["at"] == hours(122)
    assert "100 deliveries in a row" in entry["reason"]


def test_a_change_of_the_settings_starts_the_count_anew(
    record: Record, disabled: Disabled, settings: firestore.DocumentReference
) -> None:
    """So an admin who enables a URL is not overruled by what had failed before."""
    record(Outcome.FAILED, -30, 200)
    settings.update({"disabled": firestore.DELETE_FIELD})
    failed = record(Outcome.FAILED, 30)

    assert not disabled(failed, 30)


def test_an_admin_who_saves_at_that_moment_is_not_overruled(
    record: Record,
    settings: firestore.DocumentReference,
    event: firestore.DocumentReference,
) -> None:
    """The URL is disabled in the settings that were looked at, or not at all."""
    record(Outcome.FAILED, 1, 100)
    failed = record(Outcome.FAILED, 122)

    class SavedMeanwhile(SettingsStore):
        def disable(self, *arguments: Any) -> None:
            settings.update({"urls": [URL]})
            super().disable(*arguments)

    store = SavedMeanwhile(documents())
    _health(store, 122).delivery_failed(failed)

    assert settings.get().to_dict() == {"urls": [URL]}
    assert event.id == failed.event_id


def test_many_who_find_it_dead_disable_it_once(
    record: Record, disabled: Disabled, settings: firestore.DocumentReference
) -> None:
    """Deliveries fail in many processes at the same moment."""
    record(Outcome.FAILED, 1, 100)
    failed = record(Outcome.FAILED, 122)

    with ThreadPoolExecutor(8) as threads:
        seen = list(threads.map(lambda _: disabled(failed, 122), range(8)))

    assert {URL} in seen
    assert len(settings.get().get("disabled")) == 1
