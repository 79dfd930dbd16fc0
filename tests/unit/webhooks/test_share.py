"""Design 3: an event has its share of a host and no more."""

import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager

import pytest

from functions.webhooks.endpoints import share
from functions.webhooks.endpoints.share import Limits, NoTurnError, Shares

HOST = "hooks.example.com"
MANY = 1_000_000


class Time:
    """A clock that only `sleep` moves; it remembers how long each sleep was."""

    def __init__(self) -> None:
        self.now = 0.0
        self.slept: list[float] = []

    def monotonic(self) -> float:
        """Seconds."""
        return self.now

    def sleep(self, seconds: float) -> None:
        """Take note of it; others' turns come at the same moment."""
        self.slept.append(round(seconds, 6))


def shares(at_a_time: int, a_second: int, time: Time | None = None) -> Shares:
    """Shares of this size."""
    time = time or Time()
    return Shares(Limits(at_a_time=at_a_time, a_second=a_second), time.monotonic, time.sleep)


class Posts:
    """POSTs that each last until they are let go."""

    def __init__(self, given: Shares, threads: ThreadPoolExecutor) -> None:
        self._given = given
        self._threads = threads
        self._let_go = threading.Semaphore(0)
        self._changed = threading.Condition()
        self.begun = 0

    def start(self, event_id: str = "e1", host: str = HOST) -> Future[None]:
        """Begin one more, as soon as it has its turn."""
        return self._threads.submit(self._post, event_id, host)

    def _post(self, event_id: str, host: str) -> None:
        with self._given.turn(event_id, host):
            with self._changed:
                self.begun += 1
                self._changed.notify_all()
            assert self._let_go.acquire(timeout=30)

    def let_go(self, count: int) -> None:
        """End so many."""
        self._let_go.release(count)

    def wait_for(self, count: int) -> None:
        """Wait until so many have begun, and see that no more have."""
        with self._changed:
            assert self._changed.wait_for(lambda: self.begun >= count, 30)
            assert not self._changed.wait_for(lambda: self.begun > count, 0.05)


@contextmanager
def posting(given: Shares) -> Iterator[Posts]:
    """POSTs in threads; all are let go in the end."""
    with ThreadPoolExecutor(200) as threads:
        posts = Posts(given, threads)
        try:
            yield posts
        finally:
            posts.let_go(200)


def test_so_many_at_a_time() -> None:
    """The next one begins when one has ended; another host and another event have their own."""
    with posting(shares(3, MANY)) as posts:
        for _ in range(5):
            posts.start()
        posts.wait_for(3)
        posts.start(host="other.example.com")
        posts.start("e2")
        posts.wait_for(5)
        posts.let_go(1)
        posts.wait_for(6)


def test_whoever_waits_too_long_gives_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """It fails like a time-out, and takes nobody's place afterwards."""
    monkeypatch.setattr(share, "WAIT_SECONDS", 0.05)
    with posting(shares(2, MANY)) as posts:
        first = [posts.start(), posts.start()]
        posts.wait_for(2)
        assert isinstance(posts.start().exception(10), NoTurnError)
        posts.let_go(2)
        for one in first:
            one.result(10)
        posts.start()
        posts.start()
        posts.wait_for(4)
        assert isinstance(posts.start().exception(10), NoTurnError)


def test_a_place_is_free_after_a_failure() -> None:
    """However a POST ends."""
    given = shares(1, MANY)
    for _ in range(3):
        with pytest.raises(OSError, match="reset"), given.turn("e1", HOST):
            raise OSError("reset")


def test_so_many_a_second() -> None:
    """A second's worth at once, then evenly; after a quiet second at once again."""
    time = Time()
    given = shares(100, 4, time)
    for _ in range(6):
        with given.turn("e1", HOST):
            pass
    assert time.slept == [0.25, 0.5]
    with given.turn("e1", "other.example.com"), given.turn("e2", HOST):
        pass
    time.now += 1.5
    for _ in range(4):
        with given.turn("e1", HOST):
            pass
    assert time.slept == [0.25, 0.5]


def test_a_turn_that_is_too_far_away() -> None:
    """Nobody waits for it, and it is left to others."""
    time = Time()
    given = shares(100, 1, time)
    for _ in range(6):
        with given.turn("e1", HOST):
            pass
    for _ in range(3):
        with pytest.raises(NoTurnError), given.turn("e1", HOST):
            pass
    assert time.slept == [1, 2, 3, 4, 5]
    time.now += 1
    with given.turn("e1", HOST):
        pass


def test_a_host_that_was_not_posted_to_lately_is_forgotten() -> None:
    """Events and hosts are as many as anybody likes."""
    time = Time()
    given = shares(1, 4, time)
    for number in range(10_000):
        time.now += 0.01
        with given.turn("e1", f"{number}.example.com"):
            pass
    assert len(given._shares) < 2_000  # noqa: SLF001 - memory is not seen otherwise


def test_eighty_threads() -> None:
    """Never more at a time than may be, and everybody has their turn."""
    given = shares(7, MANY)
    lock = threading.Lock()
    at_work, most = 0, 0

    def post(_: int) -> None:
        nonlocal at_work, most
        with given.turn("e1", HOST):
            with lock:
                at_work += 1
                most = max(most, at_work)
            with lock:
                at_work -= 1

    with ThreadPoolExecutor(80) as threads:
        list(threads.map(post, range(4000)))
    assert (at_work, most <= 7) == (0, True)
    assert given._shares[("e1", HOST)].at_work == 0  # noqa: SLF001 - no place is lost
