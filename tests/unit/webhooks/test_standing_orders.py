"""A standing order sends again what failed, once the receiver answers (spec 6.5)."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from functions.webhooks.deliveries.delivery import Delivery, Outcome
from functions.webhooks.messages.event_type import EventType
from functions.webhooks.recovery.recoverer import PAGES_OF_A_LOOK
from functions.webhooks.recovery.standing_order import OVERLAP, StandingOrder
from functions.webhooks.settings.webhook_settings import key
from tests.in_memory.through import Crash, ServiceError
from tests.unit.webhooks.parts import EVENT, NOW, OTHER, URL, Parts

ORDERED = {"url": URL, "recover": True}


class House(Parts):
    """An event with a standing order at one URL, and a second URL without."""

    def __init__(self) -> None:
        """Nothing has been sent yet."""
        super().__init__()
        self.subscribe(ORDERED, OTHER)

    def ended(self, outcome: Outcome, name: str, url: str = URL, **fields: Any) -> Delivery:
        """Put a delivery on record that has just ended, and let a worker look at it."""
        made = Delivery(
            id=name,
            event_id=EVENT,
            event_type=EventType.PHOTO_UPLOADED,
            url=url,
            body="{}",
            created_at=self.now,
            outcome=outcome,
            attempts=4,
            ended_at=self.now,
            **fields,
        )
        self.stored.create(EVENT, [made])
        if outcome is Outcome.FAILED:
            self.endpoint_health().delivery_failed(made)
        return made

    def later(self, **time: float) -> None:
        """Let time pass."""
        self.now += timedelta(**time)

    def named(self, name: str) -> Delivery:
        """A delivery as it is now."""
        found = self.stored.load(EVENT, name)
        assert found
        return found

    def order(self, url: str = URL) -> StandingOrder | None:
        """What is on record of the order at a URL."""
        found = self.database.get(f"events/{EVENT}/recoveries/{key(url)}")
        return found.value if found else None

    def sent_again(self) -> list[str]:
        """Deliveries that wait in their second round, the one that is due first at the top."""
        waiting = [one for one in self.records if one.round and one.outcome is Outcome.PENDING]
        return [one.id for one in sorted(waiting, key=lambda one: one.next_attempt_at or NOW)]


@pytest.fixture
def house() -> House:
    """With nothing on record."""
    return House()


def outage(house: House, count: int = 3) -> None:
    """So many deliveries fail, a minute apart."""
    for number in range(count):
        house.later(minutes=1)
        house.ended(Outcome.FAILED, f"missed-{number}")
    house.later(minutes=1)


def test_what_failed_is_sent_again_when_the_receiver_answers(house: House) -> None:
    """Oldest first, at the pace of the event, each with a task; the order says how many."""
    house.a_second = 4  # one at a time
    outage(house)
    assert house.recoverer().sweep() == 0
    assert house.sent_again() == []
    house.ended(Outcome.SUCCESS, "arrived")
    assert house.recoverer().sweep() == 3
    assert house.sent_again() == ["missed-0", "missed-1", "missed-2"]
    due = [house.named(name).next_attempt_at for name in house.sent_again()]
    assert due == [house.now + timedelta(seconds=number / 4) for number in range(3)]
    assert len(house.queued) == 3
    order = house.order()
    assert order
    assert (order.resent, order.ran_at) == (3, house.now)


def test_a_test_that_arrives_tells_that_the_receiver_answers(house: House) -> None:
    """A test that failed is not sent again."""
    outage(house, 1)
    house.ended(Outcome.FAILED, "test-0", test=True)
    house.later(seconds=1)
    house.ended(Outcome.SUCCESS, "test-1", test=True)
    house.recoverer().sweep()
    assert house.sent_again() == ["missed-0"]


def test_without_an_order_nothing_is_read_or_sent(house: House) -> None:
    """Neither at the other URL, nor for one read more."""
    house.ended(Outcome.FAILED, "missed", url=OTHER)
    house.later(minutes=1)
    house.ended(Outcome.SUCCESS, "arrived", url=OTHER)
    assert house.recoverer().sweep() == 0
    assert not [name for name in house.calls if name in ("orders.load", "orders.create")]


def test_each_delivery_is_sent_again_once(house: House) -> None:
    """Not what failed again, nor what somebody has sent again by hand."""
    outage(house, 2)
    house.ended(Outcome.FAILED, "by hand", round=1)
    house.later(seconds=1)
    house.ended(Outcome.SUCCESS, "arrived")
    assert house.recoverer().sweep() == 2
    for name in ("missed-0", "missed-1"):
        house.failed(house.named(name))
    house.later(minutes=5)
    house.ended(Outcome.SUCCESS, "arrived too")
    for _ in range(3):
        house.later(minutes=5)
        assert house.recoverer().sweep() == 0
    order = house.order()
    assert order
    assert (order.resent, order.look_at) == (2, None)


def test_24_hours_back_at_most(house: House) -> None:
    """To the second."""
    house.ended(Outcome.FAILED, "too old")
    house.later(seconds=2)
    house.ended(Outcome.FAILED, "not too old")
    house.later(hours=23, minutes=59, seconds=59)
    house.ended(Outcome.SUCCESS, "arrived")
    house.recoverer().sweep()
    assert house.sent_again() == ["not too old"]


def test_what_failed_before_the_order_was_given_stays(house: House) -> None:
    """The order is no older than the settings."""
    house.subscribe(URL)
    house.ended(Outcome.FAILED, "before")
    house.later(seconds=1)
    house.subscribe(ORDERED)
    outage(house, 1)
    house.ended(Outcome.SUCCESS, "arrived")
    house.recoverer().sweep()
    assert house.sent_again() == ["missed-0"]


@pytest.mark.parametrize(
    "settings",
    [
        {"urls": []},
        {"urls": [URL]},
        {"urls": [{"url": URL, "recover": "yes"}]},
        {"urls": [ORDERED], "disabled": {key(URL): {"url": URL, "reason": "dead"}}},
    ],
)
def test_an_order_ends_with_its_entry(house: House, settings: dict[str, Any]) -> None:
    """Removed, without `recover`, or disabled."""
    outage(house)
    house.ended(Outcome.SUCCESS, "arrived")
    house.put(f"events/{EVENT}/settings/webhooks", settings)
    assert house.recoverer().sweep() == 0
    order = house.order()
    assert order
    assert order.look_at is None


def test_a_receiver_that_is_silent_for_a_day_is_not_looked_at_any_more(house: House) -> None:
    """Until a delivery fails again."""
    outage(house)
    house.later(hours=24)
    house.recoverer().sweep()
    assert house.order().look_at is None  # type: ignore[union-attr]
    house.ended(Outcome.FAILED, "missed")
    assert house.order().look_at == house.now  # type: ignore[union-attr]


def test_a_url_is_watched_until_it_was_quiet_for_two_minutes(house: House) -> None:
    """A worker marks no failure for a minute after one that it has marked."""
    worker = house.endpoint_health()
    outage(house, 1)
    house.ended(Outcome.SUCCESS, "arrived")
    house.recoverer().sweep()
    house.later(minutes=5)
    test = house.ended(Outcome.FAILED, "test", test=True)
    worker.delivery_failed(test)
    house.later(seconds=1)
    house.ended(Outcome.SUCCESS, "arrived too")
    house.recoverer().sweep()
    assert house.order().look_at  # type: ignore[union-attr]
    house.later(minutes=2)
    house.recoverer().sweep()
    assert house.order().look_at is None  # type: ignore[union-attr]


def test_many_are_sent_again_page_by_page(house: House) -> None:
    """In one look."""
    house.page = 2
    outage(house, 7)
    house.ended(Outcome.SUCCESS, "arrived")
    assert house.recoverer().sweep() == 7
    assert len(house.sent_again()) == 7


def test_many_that_are_left_alone_keep_no_other_waiting(house: House) -> None:
    """The next look goes on behind the deliveries that this one has read."""
    house.page = 1
    for number in range(2 * PAGES_OF_A_LOOK):
        house.later(minutes=1)
        house.ended(Outcome.FAILED, f"test-{number}", test=True)
    house.later(minutes=OVERLAP.seconds / 60)
    house.ended(Outcome.FAILED, "missed")
    house.later(minutes=1)
    house.ended(Outcome.SUCCESS, "arrived")
    for _ in range(3):
        house.recoverer().sweep()
    assert house.sent_again() == ["missed"]


def test_a_crash_repeats_the_look_and_no_delivery(house: House) -> None:
    """What was begun stands in its second round."""
    outage(house)
    house.ended(Outcome.SUCCESS, "arrived")

    def crash() -> None:
        raise Crash

    house.at("update deliveries", crash, skip=2)
    with pytest.raises(Crash):
        house.recoverer().sweep()
    assert house.sent_again() == ["missed-0", "missed-1"]
    house.later(minutes=5)
    assert house.recoverer().sweep() == 1
    assert {house.named(f"missed-{number}").round for number in range(3)} == {1}


def test_a_fault_at_one_url_keeps_no_other_waiting(
    house: House, capfd: pytest.CaptureFixture[str]
) -> None:
    """The next sweep tries that URL again."""
    house.subscribe(ORDERED, ORDERED | {"url": OTHER})
    outage(house)
    house.ended(Outcome.FAILED, "missed elsewhere", url=OTHER)
    house.later(seconds=1)
    house.ended(Outcome.SUCCESS, "arrived")
    house.ended(Outcome.SUCCESS, "arrived elsewhere", url=OTHER)

    def fail() -> None:
        raise ServiceError

    house.at("get settings", fail)
    assert house.recoverer().sweep() == 1
    assert "webhook.not-recovered" in capfd.readouterr().out
    assert house.recoverer().sweep() == 3


def test_two_workers_mark_a_url_once(house: House) -> None:
    """Whoever comes second finds it marked."""
    made = replace(house.ended(Outcome.SUCCESS, "x"), outcome=Outcome.FAILED)
    house.at("orders.create", lambda: house.endpoint_health().delivery_failed(made))
    house.endpoint_health().delivery_failed(made)
    order = house.order()
    assert order
    assert order.look_at == NOW
