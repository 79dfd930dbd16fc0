"""The webhook secret of each event: `events/{eventId}/secrets/webhooks` (SPEC 2.1)."""

import secrets
import time
from typing import Final

from google.api_core import exceptions
from google.cloud import firestore

from functions.gcp.firestore import CALL_SECONDS, RETRY

KEPT_SECONDS: Final = 60.0
"""How long a process may sign with a secret without looking again."""

_SECRET_BYTES: Final = 32
_PREFIX: Final = "whsec_"
_KEPT_AT_MOST: Final = 10_000


def new_secret() -> str:
    """A fresh secret: `whsec_` and 32 random bytes in URL-safe base64."""
    return _PREFIX + secrets.token_urlsafe(_SECRET_BYTES)


class WebhookSecrets:
    """Looks secrets up, makes missing ones, and remembers them for a minute."""

    def __init__(self, client: firestore.Client) -> None:
        self._client = client
        self._kept: dict[str, tuple[float, str]] = {}

    def of(self, event_id: str) -> str:
        """The event's secret, made now if it has none (DESIGN 3)."""
        kept = self._kept.get(event_id)
        now = time.monotonic()
        if kept and now - kept[0] < KEPT_SECONDS:
            return kept[1]
        secret = self._read_or_create(event_id)
        if len(self._kept) >= _KEPT_AT_MOST:
            self._kept.clear()
        self._kept[event_id] = (now, secret)
        return secret

    def rotate(self, event_id: str) -> None:
        """Give the event a new secret; other processes sign with the old one for `KEPT_SECONDS`."""
        fresh = new_secret()
        now = time.monotonic()
        self._client.document("events", event_id, "secrets", "webhooks").set(
            {"secret": fresh, "rotatedAt": firestore.SERVER_TIMESTAMP},
            retry=RETRY,
            timeout=CALL_SECONDS,
        )
        self._kept[event_id] = (now, fresh)

    def _read_or_create(self, event_id: str) -> str:
        reference = self._client.document("events", event_id, "secrets", "webhooks")
        found = reference.get(["secret"], retry=RETRY, timeout=CALL_SECONDS)
        secret = (found.to_dict() or {}).get("secret")
        if isinstance(secret, str) and secret:
            return secret
        try:
            fresh = new_secret()
            # An empty document is somebody's mistake; it is replaced only as it was read.
            if found.exists:
                option = self._client.write_option(last_update_time=found.update_time)
                reference.update({"secret": fresh}, option=option, timeout=CALL_SECONDS)
            else:
                reference.create({"secret": fresh}, timeout=CALL_SECONDS)
        except (exceptions.AlreadyExists, exceptions.FailedPrecondition):
            return self._read_or_create(event_id)  # another process was first: its secret counts
        return fresh
