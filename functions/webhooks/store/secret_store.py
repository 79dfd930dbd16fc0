"""The webhook secret of each event: `events/{eventId}/secrets/webhooks` (spec 2.1)."""

import secrets
from collections.abc import Callable
from datetime import datetime
from typing import Final

from google.api_core import exceptions

from functions.gcp.documents import Create, Documents, Update
from functions.recent import Recent
from functions.webhooks.ports import SECRET_KEPT

_SECRET_BYTES: Final = 32
_PREFIX: Final = "whsec_"
_KEPT_AT_MOST: Final = 10_000


def new_secret() -> str:
    """A fresh secret: `whsec_` and 32 random bytes in URL-safe base64."""
    return _PREFIX + secrets.token_urlsafe(_SECRET_BYTES)


class SecretStore:
    """See `ports.Secrets`; remembers secrets for as long as it may."""

    def __init__(
        self,
        documents: Documents,
        *,
        now: Callable[[], datetime],
        monotonic: Callable[[], float],
    ) -> None:
        """`now` gives the time, aware and in UTC; `monotonic` seconds that only grow."""
        self._documents = documents
        self._now = now
        self._monotonic = monotonic
        self._kept: Recent[str, str] = Recent(
            seconds=SECRET_KEPT.total_seconds(), at_most=_KEPT_AT_MOST, monotonic=monotonic
        )

    def of(self, event_id: str) -> str:
        """The event's secret, made now if it has none (design 3)."""
        kept = self._kept.get(event_id)
        if kept:
            return kept
        asked = self._monotonic()
        secret = self._read_or_create(event_id)
        self._kept.put(event_id, value=secret, since=asked)
        return secret

    def rotate(self, event_id: str) -> None:
        """Give the event a new secret; other processes may use the old one for `SECRET_KEPT`."""
        fresh = new_secret()
        asked = self._monotonic()
        self._documents.write(_path(event_id), {"secret": fresh, "rotatedAt": self._now()})
        self._kept.put(event_id, value=fresh, since=asked)

    def _read_or_create(self, event_id: str) -> str:
        path = _path(event_id)
        while True:
            found = self._documents.get(path, ["secret"])
            secret = found and found.fields.get("secret")
            if isinstance(secret, str) and secret:
                return secret
            fresh = new_secret()
            try:
                if found is None:
                    self._documents.create([Create(path, {"secret": fresh})])
                else:  # an empty document is somebody's mistake; it is replaced only as it was read
                    [error] = self._documents.update_all(
                        [Update(path, {"secret": fresh}, found.version)]
                    )
                    if error:
                        raise error
            except (exceptions.AlreadyExists, exceptions.FailedPrecondition, exceptions.NotFound):
                continue  # another process was first, and its secret counts
            return fresh


def _path(event_id: str) -> str:
    return f"events/{event_id}/secrets/webhooks"
