"""Which URL is given up: the law of `endpoint_health.py`, and what may come in between."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest

from functions.webhooks.attempts.endpoint_health import EndpointHealth
from functions.webhooks.deliveries.delivery import Delivery, Outcome
from functions.webhooks.messages.event_type import EventType
from functions.webhooks.settings.webhook_settings import WebhookSettings, key
from tests.unit.webhooks.parts import EVENT, NOW, OTHER, URL, Parts


def hours(after: float) -> timedelta:
    """That many."""
    return timedelta(hours=after)


class House(Parts):
    """Records of deliveries that have ended, by hours from the last change of the settings."""

    def __init__(self) -> None:
        """Two URLs."""
        super().__init__()
        self.subscribe(URL, OTHER)

    def ended(self, outcome: Outcome, at: float, count: int = 1, url: str = URL) -> Delivery:
        """Put `count` of them on record; the last one."""
        for _ in range(count):
            made = Delivery(
                id=f"d{self._new_id()}",
                event_id=EVENT,
                event_type=EventType.PHOTO_UPLOADED,
                url=url,
                body="{}",
                created_at=NOW + hours(at),
                outcome=outcome,
                attempts=4,
                ended_at=NOW + hours(at),
            )
            self.stored.create(EVENT, [made])
        return made

    def look(self, failed: Delivery, at: float, by: EndpointHealth | None = None) -> set[str]:
        """Have somebody look at that hour; the URLs that are disabled then."""
        self.now = NOW + hours(at)
        (by or self.endpoint_health()).delivery_failed(failed)
        return self.disabled

    @property
    def disabled(self) -> set[str]:
        """The URLs that are disabled."""
        settings = WebhookSettings.read(self.fields(f"events/{EVENT}/settings/webhooks") or {})
        return {
            subscription.url for subscription in settings.subscriptions if subscription.disabled
        }


@pytest.fixture
def house() -> House:
    """With no delivery yet."""
    return House()


@pytest.mark.parametrize(
    ("early", "late", "at", "disabled"),
    [
        (99, 1, 122, True),
        (1, 99, 122, True),
        (98, 1, 122, False),  # one too few
        (300, 1, 120.9, False),  # the first is not five days ago
        (0, 100, 122, False),  # nor are any of these
        (99, 1, 121, True),  # to the minute
    ],
)
def test_a_hundred_failures_over_five_days_disable_a_url(
    house: House, early: int, late: int, at: float, *, disabled: bool
) -> None:
    """The first at the first hour, the last just before somebody looks."""
    house.ended(Outcome.FAILED, 1, early) if early else None
    failed = house.ended(Outcome.FAILED, at - 0.001, late)
    assert house.look(failed, at) == ({URL} if disabled else set())


@pytest.mark.parametrize(("success", "disabled"), [(0.5, True), (2, False), (121, False)])
def test_a_success_begins_the_count_anew(house: House, success: float, *, disabled: bool) -> None:
    """Only what has failed after it counts."""
    house.ended(Outcome.FAILED, 1, 99)
    house.ended(Outcome.SUCCESS, success)
    failed = house.ended(Outcome.FAILED, 121.5)
    assert bool(house.look(failed, 122)) == disabled


def test_what_an_admin_saves_begins_the_count_anew(house: House) -> None:
    """Which is also how a URL is enabled again."""
    house.ended(Outcome.FAILED, 1, 100)
    house.now = NOW + hours(2)
    house.subscribe(URL, OTHER, notify=["ann@example.com"])
    failed = house.ended(Outcome.FAILED, 121.5)
    assert not house.look(failed, 122)


def test_what_is_sent_again_leaves_the_count(house: House) -> None:
    """Until it has ended."""
    house.ended(Outcome.FAILED, 1, 98)
    house.ended(Outcome.PENDING, 1)
    failed = house.ended(Outcome.FAILED, 121.5)
    assert not house.look(failed, 122)


def test_the_other_dead_urls_go_with_it(house: House) -> None:
    """The settings are written, so their count would begin anew."""
    house.ended(Outcome.FAILED, 1, 100, url=OTHER)
    house.ended(Outcome.FAILED, 1, 99)
    assert house.look(house.ended(Outcome.FAILED, 121.5), 122) == {URL, OTHER}


def test_an_acknowledgement_while_the_failures_are_counted_ends_the_count(house: House) -> None:
    """Without it there were ninety-nine failures in a row when it came, and one after it."""
    house.ended(Outcome.FAILED, 1, 98)
    failed = house.ended(Outcome.FAILED, 121.5)

    def acknowledged_and_failed_again() -> None:
        house.ended(Outcome.SUCCESS, 121.6)
        house.ended(Outcome.FAILED, 121.7)

    house.after("find deliveries", acknowledged_and_failed_again)
    assert not house.look(failed, 122)


def test_an_acknowledgement_over_the_failure_that_was_one_too_many(house: House) -> None:
    """The count is made from the records: with the failure, it is gone from it."""
    house.ended(Outcome.FAILED, 1, 99)
    failed = house.ended(Outcome.FAILED, 121.5)

    def acknowledged() -> None:
        house.stored.save(replace(house.record(failed), outcome=Outcome.SUCCESS))

    house.after("count deliveries", acknowledged)
    assert not house.look(failed, 122)


def test_whoever_has_just_saved_is_not_overruled(house: House) -> None:
    """The count begins anew."""
    failed = house.ended(Outcome.FAILED, 1, 100)
    house.at("update settings", lambda: house.subscribe(URL))
    assert not house.look(failed, 122)


def test_a_process_looks_once_a_minute(house: House) -> None:
    """A busy event's dead receiver fails many times a second; a fresh clock changes nothing."""
    health = house.endpoint_health()
    failed = house.ended(Outcome.FAILED, 1, 99)
    assert not house.look(failed, 122, health)
    house.ended(Outcome.FAILED, 122)
    assert not house.look(failed, 122, health)
    house.monotonic += 61
    assert house.look(failed, 122, health) == {URL}


@pytest.mark.parametrize(
    "arrange",
    [
        lambda house: house.subscribe(OTHER),
        lambda house: house.subscribe(URL, disabled={key(URL): {"url": URL, "reason": "by hand"}}),
    ],
)
def test_a_url_that_is_gone_or_disabled_is_not_looked_at(
    house: House, arrange: Callable[[House], None]
) -> None:
    """Nothing is left to do."""
    arrange(house)
    failed = house.ended(Outcome.FAILED, 1, 100)
    before = house.disabled
    assert house.look(failed, 122) == before
    assert "find deliveries" not in house.calls
