"""Design 2: slow receivers do not delay attempts at fast ones."""

from contextlib import ExitStack

import pytest

from functions.webhooks.deliveries.receiver_speed import (
    REMEMBERED_SECONDS,
    TRIED_AGAIN_AFTER_SECONDS,
    UNPROVEN_AT_ONCE,
    UNPROVEN_OF_AN_EVENT,
    FastReceivers,
)
from tests.unit.clock import Clock, NamedTenants

URL = "https://example.com/hook"
OTHER = "https://example.com/other"


@pytest.fixture
def clock() -> Clock:
    """Return the clock of the instance."""
    return Clock()


@pytest.fixture
def receivers(clock: Clock) -> FastReceivers:
    """Return the empty state of a new instance."""
    return FastReceivers(clock.process, NamedTenants())


def attempt(
    receivers: FastReceivers,
    clock: Clock,
    *,
    seconds: float,
    event_id: str = "e1",
) -> None:
    """Make an attempt that takes this long."""
    with receivers.track(event_id, URL):
        clock.now += seconds


def test_an_unknown_receiver_is_slow_after_one_slow_attempt(
    receivers: FastReceivers, clock: Clock
) -> None:
    """Another URL and another event are not affected."""
    assert not receivers.belongs_on_slow_queue("e1", URL)
    attempt(receivers, clock, seconds=1)
    assert receivers.belongs_on_slow_queue("e1", URL)
    assert not receivers.belongs_on_slow_queue("e1", OTHER)
    assert not receivers.belongs_on_slow_queue("e2", URL)


def test_a_fast_receiver_is_slow_after_two_slow_attempts_in_a_row(
    receivers: FastReceivers, clock: Clock
) -> None:
    """One slow attempt has no effect, and a fast answer resets the count."""
    for seconds in (0.9, 5, 0.9, 5):
        attempt(receivers, clock, seconds=seconds)
        assert not receivers.belongs_on_slow_queue("e1", URL)
    attempt(receivers, clock, seconds=5)
    assert receivers.belongs_on_slow_queue("e1", URL)


def test_a_slow_receiver_is_tried_every_two_minutes(receivers: FastReceivers, clock: Clock) -> None:
    """If that attempt is fast, the receiver counts as fast again."""
    attempt(receivers, clock, seconds=5)
    clock.now += TRIED_AGAIN_AFTER_SECONDS
    assert not receivers.belongs_on_slow_queue("e1", URL)
    with receivers.track("e1", URL):
        assert receivers.belongs_on_slow_queue("e1", URL)
        clock.now += 5
    assert receivers.belongs_on_slow_queue("e1", URL)
    clock.now += TRIED_AGAIN_AFTER_SECONDS
    attempt(receivers, clock, seconds=0.1)
    assert not receivers.belongs_on_slow_queue("e1", URL)


def test_a_receiver_is_slow_while_an_attempt_takes_over_a_second(
    receivers: FastReceivers, clock: Clock
) -> None:
    """A receiver that stops answering is found before its five seconds have passed."""
    attempt(receivers, clock, seconds=0.1)
    with receivers.track("e1", URL):
        clock.now += 0.9
        assert not receivers.belongs_on_slow_queue("e1", URL)
        clock.now += 0.1
        assert receivers.belongs_on_slow_queue("e1", URL)
        assert not receivers.belongs_on_slow_queue("e1", OTHER)


def test_unknown_receivers_of_an_event_get_the_deliveries_of_one_upload_at_once(
    receivers: FastReceivers, clock: Clock
) -> None:
    """Spec 3.4: every receiver is unknown to a new instance. A silent one is found in a second."""
    with ExitStack() as attempts:
        for number in range(UNPROVEN_OF_AN_EVENT):
            assert not receivers.belongs_on_slow_queue("e1", f"{URL}/{number}")
            attempts.enter_context(receivers.track("e1", f"{URL}/{number}"))
        assert receivers.belongs_on_slow_queue("e1", OTHER)
        assert not receivers.belongs_on_slow_queue("e2", OTHER)
    assert not receivers.belongs_on_slow_queue("e1", OTHER)
    attempts.enter_context(receivers.track("e2", URL))
    clock.now += 1
    assert receivers.belongs_on_slow_queue("e2", URL)


def test_unknown_receivers_use_at_most_half_of_the_threads(
    receivers: FastReceivers, clock: Clock
) -> None:
    """A receiver that is known to be fast can use the other half."""
    attempt(receivers, clock, seconds=0.1, event_id="known")
    with ExitStack() as attempts:
        for number in range(UNPROVEN_AT_ONCE):
            assert not receivers.belongs_on_slow_queue(f"e{number}", URL)
            attempts.enter_context(receivers.track(f"e{number}", URL))
        assert receivers.belongs_on_slow_queue("another", URL)
        assert not receivers.belongs_on_slow_queue("known", URL)


@pytest.mark.parametrize("tenants", [1, 2, 50])
def test_slow_receivers_of_many_events_leave_another_tenant_a_place(
    receivers: FastReceivers, tenants: int
) -> None:
    """Each tenant in turn uses all threads that it gets."""
    with ExitStack() as attempts:
        for number in range(UNPROVEN_AT_ONCE * tenants):
            event_id = f"e{number} of t{number % tenants}"
            if not receivers.belongs_on_slow_queue(event_id, URL):
                attempts.enter_context(receivers.track(event_id, URL))
        assert receivers.belongs_on_slow_queue("another of t0", URL)
        assert not receivers.belongs_on_slow_queue("neighbor", URL)


def test_a_receiver_is_forgotten_after_an_hour(receivers: FastReceivers, clock: Clock) -> None:
    """It may have become slow."""
    attempt(receivers, clock, seconds=0.1)
    clock.now += REMEMBERED_SECONDS
    attempt(receivers, clock, seconds=1)
    assert receivers.belongs_on_slow_queue("e1", URL)
