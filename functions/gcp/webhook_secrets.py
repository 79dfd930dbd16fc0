"""The webhook secret of each event: `events/{eventId}/secrets/webhooks` (SPEC 2.1)."""

import secrets
import time
from typing import Final

from google.api_core import exceptions
from google.cloud import firestore

from functions.gcp.documents import Create, Documents, Update
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
        self._documents = Documents(client)
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
        path = f"events/{event_id}/secrets/webhooks"
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
