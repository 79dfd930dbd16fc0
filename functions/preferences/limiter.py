"""Lets a client's calls through until there are too many in an hour (spec 8)."""

from collections.abc import Callable
from datetime import datetime
from typing import Final

from functions import log
from functions.preferences.rate_limit import MAX_CALLS, Window
from functions.preferences.store.call_counts import CallCounts

_REMEMBERED_AT_MOST: Final = 10_000


class TooManyCallsError(Exception):
    """The client has used up this hour's calls."""


class Limiter:
    """Counts calls in Firestore; one instance serves all threads of the process."""

    def __init__(self, counts: CallCounts, now: Callable[[], datetime]) -> None:
        """`now` gives the time, aware and in UTC."""
        self._counts = counts
        self._now = now
        self._exceeded: set[str] = set()

    def pass_or_raise(self, function: str, client: str, secret: str) -> None:
        """Count a call of `function` by `client`; let it pass if it cannot be counted (spec 8).

        Raises:
            TooManyCallsError: this hour's calls are used up.
        """
        window = Window.of(function, client, secret=secret, now=self._now())
        # A client that goes on and on costs nothing more.
        if window.key in self._exceeded:
            raise TooManyCallsError
        try:
            calls = self._counts.add(window.key, window.expire_at)
        except Exception as error:  # noqa: BLE001 - whatever it is, it must not keep anybody out
            log.warning("limiter.failed", function=function, exception=type(error).__name__)
            return
        if calls > MAX_CALLS:
            self._remember(window)
            raise TooManyCallsError

    def _remember(self, window: Window) -> None:
        if len(self._exceeded) >= _REMEMBERED_AT_MOST:
            self._exceeded.clear()
        self._exceeded.add(window.key)
