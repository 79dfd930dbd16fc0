"""One event's slow receivers hold up nobody else's deliveries (spec 6.3, design 2)."""

from contextlib import ExitStack

from functions.webhooks.slow_receivers import (
    EVENT_SHARE,
    FEW,
    FOR_FEW,
    REMEMBERED_SECONDS,
    SlowReceivers,
)

URL = "https://example.com/hook"
OTHER = "https://example.com/other"


class Clock:
    """A clock that a test sets."""

    now = 0.0

    def __call__(self) -> float:
        """Seconds."""
        return self.now


def test_two_silences_in_a_row_and_it_waits() -> None:
    """One alone may be chance; another URL has nothing to do with it."""
    slow = SlowReceivers(Clock())
    slow.met("e1", URL, answered=False)
    assert not slow.has_to_wait("e1", URL)
    slow.met("e1", URL, answered=False)
    assert slow.has_to_wait("e1", URL)
    assert not slow.has_to_wait("e1", OTHER)
    assert not slow.has_to_wait("e2", URL)


def test_an_answer_of_any_status_ends_it() -> None:
    """A receiver that refuses promptly takes nobody's place."""
    slow = SlowReceivers(Clock())
    slow.met("e1", URL, answered=False)
    slow.met("e1", URL, answered=True)
    slow.met("e1", URL, answered=False)
    assert not slow.has_to_wait("e1", URL)


def test_it_is_looked_at_again_after_a_minute() -> None:
    """So a receiver that has recovered comes back."""
    clock = Clock()
    slow = SlowReceivers(clock)
    slow.met("e1", URL, answered=False)
    slow.met("e1", URL, answered=False)
    clock.now = REMEMBERED_SECONDS - 0.1
    assert slow.has_to_wait("e1", URL)
    clock.now = REMEMBERED_SECONDS
    assert not slow.has_to_wait("e1", URL)


def test_an_event_has_its_share_of_an_instance() -> None:
    """What it sends beyond that makes way, until its attempts have ended."""
    slow = SlowReceivers(Clock())
    with ExitStack() as attempts:
        for number in range(EVENT_SHARE):
            url = f"{URL}/{number % 20}"
            assert not slow.has_to_wait("e1", url)
            attempts.enter_context(slow.at_work("e1", url))
        assert slow.has_to_wait("e1", OTHER)
        assert not slow.has_to_wait("e2", URL)
    assert not slow.has_to_wait("e1", OTHER)


def test_a_receiver_leaves_some_of_the_share_to_others() -> None:
    """One that answers late does not have a prompt one of its event wait with it."""
    slow = SlowReceivers(Clock())
    with ExitStack() as attempts:
        for _ in range(EVENT_SHARE - FOR_FEW):
            assert not slow.has_to_wait("e1", URL)
            attempts.enter_context(slow.at_work("e1", URL))
        assert slow.has_to_wait("e1", URL)
        for _ in range(FEW):
            assert not slow.has_to_wait("e1", OTHER)
            attempts.enter_context(slow.at_work("e1", OTHER))
        assert slow.has_to_wait("e1", OTHER)
        assert not slow.has_to_wait("e1", f"{OTHER}/third")
    assert not slow.has_to_wait("e1", URL)
