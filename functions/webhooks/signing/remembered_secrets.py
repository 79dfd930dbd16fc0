"""The webhook secret of each event, as an instance remembers it (spec 2.1 and 4.8).

An instance forgets a secret when the announced one is due. It signs with the announced secret only
after reading it recorded alone, so that a secret that was withdrawn in time never signs.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from functions.clock import Clock
from functions.documents.refusals import ChangedMeanwhileError
from functions.recent import Recent
from functions.webhooks.signing.store import SecretStore
from functions.webhooks.signing.webhook_secret import NextSecret, WebhookSecret

SECRET_KEPT: Final = timedelta(minutes=1)
"""How long a process may sign with a secret without reading the record again."""

_KEPT_AT_MOST: Final = 10_000


class RememberedSecrets:
    """The webhook secret of each event; one instance serves all threads of the process."""

    def __init__(
        self,
        records: SecretStore,
        *,
        new_secret: Callable[[], str],
        clock: Clock,
    ) -> None:
        """Put the parts together.

        Args:
            records: The records.
            new_secret: Gives a secret that nobody can guess.
            clock: Of the process.
        """
        self._records = records
        self._new_secret = new_secret
        self._clock = clock
        self._kept: Recent[str, WebhookSecret] = Recent(
            seconds=SECRET_KEPT.total_seconds(), at_most=_KEPT_AT_MOST, monotonic=clock.monotonic
        )

    def of(self, event_id: str) -> str:
        """The secret that signs the event's deliveries now; made if it has none (design 3.23)."""
        kept = self._kept.get(event_id)
        while kept is None or kept.is_over(self._clock.now()):
            asked = self._clock.monotonic()
            read = self._change(event_id, _nothing)
            # A call that was held up may have read a secret that was replaced since.
            kept = read if self._clock.monotonic() - asked <= SECRET_KEPT.total_seconds() else None
        return kept.secret

    def make(self, event_id: str) -> None:
        """Make the event's secret, unless it is recorded already; one write."""
        with suppress(ChangedMeanwhileError):
            self._records.replace(event_id, WebhookSecret(secret=self._new_secret()))

    def rotate(self, event_id: str) -> None:
        """Give the event a new secret at once, which cancels an announced secret.

        Other processes may sign with the old secret for a minute.
        """
        fresh = WebhookSecret(secret=self._new_secret(), rotated_at=self._clock.now())
        asked = self._clock.monotonic()
        self._records.put(event_id, fresh)
        self._kept.put(event_id, value=fresh, since=asked)

    def announce(self, event_id: str, active_from: datetime) -> None:
        """Have a new secret take over at that time, in the place of an announced secret."""
        announced = NextSecret(self._new_secret(), active_from)
        self._change(event_id, lambda present: replace(present, next=announced))

    def withdraw(self, event_id: str) -> bool:
        """End the announced secret, which then never signs; returns whether there was one."""
        announced = None

        def without(present: WebhookSecret) -> WebhookSecret:
            nonlocal announced
            announced = present.next
            return replace(present, next=None)

        self._change(event_id, without)
        return announced is not None

    def _change(
        self, event_id: str, change: Callable[[WebhookSecret], WebhookSecret]
    ) -> WebhookSecret:
        """Write the changed secret, remember it and return it.

        A missing secret is made first, and an announced secret that is due replaces the old one.
        """
        made = self._new_secret()
        while True:
            asked = self._clock.monotonic()
            found = self._records.load(event_id) or WebhookSecret(secret="")
            present = found if found.secret else replace(found, secret=made)
            changed = change(present.at(self._clock.now()))
            try:
                if changed != found:
                    self._records.replace(event_id, changed)
            except ChangedMeanwhileError:
                continue  # another process was first, and its secret counts
            self._kept.put(event_id, value=changed, since=asked)
            return changed


def _nothing(secret: WebhookSecret) -> WebhookSecret:
    """Change nothing."""
    return secret
