"""The webhook settings, as use cases read them, and as far as the service writes them.

Every method is one round trip. Each docstring holds for every adapter, the tests' too.
"""

from collections.abc import Iterable
from typing import Protocol

from functions.webhooks.settings.webhook_settings import DisabledUrl, WebhookSettings


class Settings(Protocol):
    """The webhook settings of each event."""

    def load(self, event_id: str) -> WebhookSettings:
        """The settings as they are now."""

    def disable(
        self, event_id: str, given_up: Iterable[DisabledUrl], found: WebhookSettings
    ) -> None:
        """Disable URLs, unless the settings were written since they were `found`.

        Raises:
            ChangedMeanwhileError: the settings were written since.
        """
