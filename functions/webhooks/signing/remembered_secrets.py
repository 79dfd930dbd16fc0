"""The webhook secret of each event, as an instance remembers it (spec 2.1 and 4.8).

An instance forgets a secret when the announced one is due. It signs with the announced secret only
after reading it recorded alone, so that a secret that was withdrawn in time never signs.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Final

from functions.clock import Clock
from functions.firestore.model import ChangedMeanwhileError
from functions.recent import Recent
from functions.webhooks.signing.store import SecretStore
from functions.webhooks.signing.webhook_secret import NextSecret, WebhookSecret

SECRET_KEPT: Final = timedelta(minutes=1)
"""How long a process may sign with a secret without reading the record again."""


@dataclass
class RememberedSecrets:
    """The webhook secret of each event; one instance serves all threads of the process."""

    records: SecretStore
    new_secret: Callable[[], str]
    clock: Clock
    _kept: Recent[str, WebhookSecret] = field(init=False)

    def __post_init__(self) -> None:
        """Nothing is remembered yet."""
        seconds = SECRET_KEPT.total_seconds()
        self._kept = Recent(seconds=seconds, monotonic=self.clock.monotonic)

    def of(self, event_id: str) -> str:
        """The secret that signs the event's deliveries now; made if it has none (design 3.23)."""
        kept = self._kept.get(event_id)
        while kept is None or kept.is_over(self.clock.now()):
            asked = self.clock.monotonic()
            read = self._change(event_id, lambda secret: secret)
            # A call that was held up may have read a secret that was replaced since.
            kept = read if self.clock.monotonic() - asked <= SECRET_KEPT.total_seconds() else None
        return kept.secret

    def make(self, event_id: str) -> None:
        """Make the event's secret, unless it is recorded already; one write."""
        with suppress(ChangedMeanwhileError):
            self.records.replace(event_id, WebhookSecret(secret=self.new_secret()))

    def rotate(self, event_id: str) -> None:
        """Give the event a new secret at once, which cancels an announced secret.

        Other processes may sign with the old secret for a minute.
        """
        fresh = WebhookSecret(secret=self.new_secret(), rotated_at=self.clock.now())
        self._change(event_id, lambda present: replace(fresh, version=present.version))

    def announce(self, event_id: str, active_from: datetime) -> None:
        """Have a new secret take over at that time, in the place of an announced secret."""
        announced = NextSecret(self.new_secret(), active_from)
        self._change(event_id, lambda present: replace(present, next=announced))

    def withdraw(self, event_id: str) -> bool:
        """End the announced secret, which then never signs; returns whether there was one.

        A write whose answer was lost is made again, and finds no announced secret any more.
        """
        announced = None

        def without(present: WebhookSecret) -> WebhookSecret:
            nonlocal announced
            announced = present.next or announced
            return replace(present, next=None)

        left = self._change(event_id, without)
        return announced is not None and announced.secret != left.secret

    def _change(
        self, event_id: str, change: Callable[[WebhookSecret], WebhookSecret]
    ) -> WebhookSecret:
        """Write the changed secret, remember it and return it.

        A missing secret is made first, and an announced secret that is due replaces the old one.
        """
        made = self.new_secret()
        while True:
            asked = self.clock.monotonic()
            found = self.records.load(event_id) or WebhookSecret(secret="")
            present = found if found.secret else replace(found, secret=made)
            changed = change(present.at(self.clock.now()))
            try:
                if changed != found:
                    self.records.replace(event_id, changed)
            except ChangedMeanwhileError:
                continue  # another process was first, and its secret counts
            self._kept.put(event_id, value=changed, since=asked)
            return changed
