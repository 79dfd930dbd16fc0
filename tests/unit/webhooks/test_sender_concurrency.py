"""Spec 8: an event has its share of a host and no more."""

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest

from functions.webhooks.sender.http_sender import ConcurrencyLimit
from functions.webhooks.worker import HostLimitError

HOST = "hooks.example.com"


def test_a_place_is_free_after_a_failure() -> None:
    """A POST gives its place back, however the POST ends."""
    given = ConcurrencyLimit(1)
    for _ in range(3):
        with pytest.raises(OSError, match="reset"), given.acquire(("e1", HOST)):
            raise OSError("reset")


def test_eighty_threads() -> None:
    """Eighty threads never hold more places than there are, and no place is lost or remembered."""
    given = ConcurrencyLimit(7)
    lock = threading.Lock()
    at_work, most = 0, 0

    def post(_: int) -> None:
        nonlocal at_work, most
        with suppress(HostLimitError), given.acquire(("e1", HOST)):
            with lock:
                at_work += 1
                most = max(most, at_work)
            with lock:
                at_work -= 1

    with ThreadPoolExecutor(80) as threads:
        list(threads.map(post, range(4000)))
    assert (at_work, 0 < most <= 7) == (0, True)
    assert not given._in_use  # noqa: SLF001 - memory is not seen otherwise


def test_a_post_with_several_addresses_takes_a_place_at_each() -> None:
    """Where one address has no place left, the POST takes none at the others either."""
    given = ConcurrencyLimit(1)
    with given.acquire("a", "b"):
        with pytest.raises(HostLimitError), given.acquire("b", "c"):
            pass
        with given.acquire("c"):
            pass
    with given.acquire("b", "c"):
        pass
