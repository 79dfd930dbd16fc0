"""Waits for documents, by a listener of Firestore's."""

import threading
import time
from collections.abc import Callable
from typing import Any, Final, TypeAlias

Found: TypeAlias = list[dict[str, Any]]
"""The fields of each document, with its `id`."""

_READ_SECONDS: Final = 2.0
"""The library's listener misses a deletion that comes while it begins: read now and then."""


def wait_for(watched: Any, is_enough: Callable[[Found], bool], timeout: float) -> Found:
    """Wait until the documents are as wanted; the documents as they are then, or at the end.

    Args:
        watched: A query, a collection, or the reference of a document, which may be missing.
        is_enough: Whether nothing more is waited for.
        timeout: Seconds.
    """
    enough = threading.Event()
    found: Found = []

    def see(snapshots: Any, *_: object) -> None:
        found[:] = [
            {**snapshot.to_dict(), "id": snapshot.id} for snapshot in snapshots if snapshot.exists
        ]
        if is_enough(found):
            enough.set()

    end = time.monotonic() + timeout
    watch = watched.on_snapshot(see)
    try:
        while not enough.wait(min(_READ_SECONDS, timeout)) and time.monotonic() < end:
            read = watched.get()
            see(read if isinstance(read, list) else [read])
    finally:
        watch.unsubscribe()
    return found
