"""Waits for Firestore documents with a snapshot listener."""

import threading
import time
from collections.abc import Callable
from typing import Any, Final, TypeAlias

Documents: TypeAlias = list[dict[str, Any]]
"""The fields of each document, with its `id`."""

_READ_INTERVAL_SECONDS: Final = 2.0
"""Interval of additional reads. The listener misses a deletion that happens while it starts."""


def wait_for(watched: Any, is_enough: Callable[[Documents], bool], timeout: float) -> Documents:
    """Wait until `is_enough` accepts the documents, and return them.

    After `timeout`, return the documents as they are.

    Args:
        watched: A query, a collection, or the reference of a document, which may be missing.
        is_enough: Returns True to end the wait.
        timeout: Seconds.
    """
    enough = threading.Event()
    seeing = threading.Lock()
    documents: Documents = []

    def see(snapshots: Any, *_: object) -> None:
        nonlocal documents
        with seeing:
            if enough.is_set():
                return  # an older read must not replace what was accepted
            documents = [
                {**snapshot.to_dict(), "id": snapshot.id}
                for snapshot in snapshots
                if snapshot.exists
            ]
            if is_enough(documents):
                enough.set()

    end = time.monotonic() + timeout
    watch = watched.on_snapshot(see)
    try:
        while not enough.wait(min(_READ_INTERVAL_SECONDS, timeout)) and time.monotonic() < end:
            read = watched.get()
            see(read if isinstance(read, list) else [read])
    finally:
        watch.unsubscribe()
    return documents
