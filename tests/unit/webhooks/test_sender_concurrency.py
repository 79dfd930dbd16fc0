"""Spec 8: the number of concurrent POSTs of an event to a host is limited."""

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest

from functions.webhooks.sender.http_sender import ConcurrencyLimit
from functions.webhooks.worker import HostLimitError

HOST = "hooks.example.com"


def test_a_failed_post_releases_the_limit() -> None:
    """Release after every end of a POST."""
    limit = ConcurrencyLimit(1)
    for _ in range(3):
        with pytest.raises(OSError, match="reset"), limit.acquire(("e1", HOST)):
            raise OSError("reset")


def test_threads_never_exceed_the_limit() -> None:
    """Use as many threads as an instance has. In the end the limit uses no memory."""
    limit = ConcurrencyLimit(7)
    lock = threading.Lock()
    at_work, most = 0, 0

    def post(_: int) -> None:
        nonlocal at_work, most
        with suppress(HostLimitError), limit.acquire(("e1", HOST)):
            with lock:
                at_work += 1
                most = max(most, at_work)
            with lock:
                at_work -= 1

    with ThreadPoolExecutor(80) as threads:
        list(threads.map(post, range(4000)))
    assert (at_work, 0 < most <= 7) == (0, True)
    assert not limit._in_use  # noqa: SLF001 - no public method shows the memory


def test_a_post_counts_at_all_of_its_addresses_or_at_none() -> None:
    """If one address is at its limit, the POST does not count at the others."""
    limit = ConcurrencyLimit(1)
    with limit.acquire("a", "b"):
        with pytest.raises(HostLimitError), limit.acquire("b", "c"):
            pass
        with limit.acquire("c"):
            pass
    with limit.acquire("b", "c"):
        pass
