"""The webhook secret of each event: `events/{eventId}/secrets/webhooks` (spec 2.1)."""

import secrets
import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from typing import Final

from google.api_core import exceptions

from functions.gcp.documents import Create, Document, Documents, Update
from functions.gcp.firestore import RETRY
from functions.recent import Recent
from functions.webhooks.deliveries.webhook_secret import FIELDS, NextSecret, WebhookSecret
from functions.webhooks.ports import SECRET_KEPT

_SECRET_BYTES: Final = 32
_PREFIX: Final = "whsec_"
_KEPT_AT_MOST: Final = 10_000


def new_secret() -> str:
    """A fresh secret: `whsec_` and 32 random bytes in URL-safe base64."""
    return _PREFIX + secrets.token_urlsafe(_SECRET_BYTES)


class SecretStore:
    """See `ports.Secrets`; remembers secrets for as long as it may.

    What is remembered ends where an announced secret is due. Whoever signs with that one has seen
    it stand alone on record, so that one which was withdrawn in time is never used, whatever an
    instance remembers.
    """

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
        self._kept: Recent[str, WebhookSecret] = Recent(
            seconds=SECRET_KEPT.total_seconds(), at_most=_KEPT_AT_MOST, monotonic=monotonic
        )
        self._taking_over = threading.Lock()

    def of(self, event_id: str) -> str:
        """See `ports.Secrets`."""
        kept = self._kept.get(event_id)
        if kept is None:
            return self._change(event_id, _nothing).secret
        if not kept.is_over(self._now()):
            return kept.secret
        # All threads of an instance notice in the same moment; one sees to it.
        with self._taking_over:
            kept = self._kept.get(event_id)
            if kept is None or kept.is_over(self._now()):
                kept = self._change(event_id, _nothing)
        return kept.secret

    def rotate(self, event_id: str) -> None:
        """See `ports.Secrets`."""
        fresh = WebhookSecret(secret=new_secret(), rotated_at=self._now())
        asked = self._monotonic()
        self._documents.write(_path(event_id), fresh.fields)
        self._kept.put(event_id, value=fresh, since=asked)

    def announce(self, event_id: str, active_from: datetime) -> None:
        """See `ports.Secrets`."""
        announced = NextSecret(new_secret(), active_from)
        self._change(event_id, lambda present: replace(present, next=announced))

    def _change(
        self, event_id: str, change: Callable[[WebhookSecret], WebhookSecret]
    ) -> WebhookSecret:
        """Write what `change` makes of the secret as it is now; that, which is remembered.

        It is made where there is none, and an announced one takes its place where it is due.
        """
        made = WebhookSecret(secret=new_secret())
        while True:
            asked = self._monotonic()
            found = self._documents.get(_path(event_id), FIELDS)
            stored = WebhookSecret.read(found.fields) if found else None
            changed = change((stored or made).at(self._now()))
            if changed == stored or self._replaced(event_id, found, changed):
                self._kept.put(event_id, value=changed, since=asked)
                return changed

    def _replaced(self, event_id: str, found: Document | None, secret: WebhookSecret) -> bool:
        """Write `secret` in the place of what was `found`; False where that has changed.

        Then another process was first, and what it wrote counts.
        """
        path = _path(event_id)
        try:
            if found is None:
                self._documents.create([Create(path, secret.fields)])
            else:
                gone = [name for name in FIELDS if name not in secret.fields]
                RETRY(self._update)(Update(path, secret.fields, found.version, delete=gone))
        except (exceptions.AlreadyExists, exceptions.FailedPrecondition, exceptions.NotFound):
            return False
        return True

    def _update(self, write: Update) -> None:
        [error] = self._documents.update_all([write])
        if error:
            raise error


def _path(event_id: str) -> str:
    return f"events/{event_id}/secrets/webhooks"


def _nothing(secret: WebhookSecret) -> WebhookSecret:
    """Change nothing."""
    return secret
