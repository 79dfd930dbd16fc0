"""Shared logs and their links, put together for this process on first use.

They run as the one account that reads the key of these links, which no worker does.
"""

import uuid
from typing import Final

from functions import parameters
from functions.gcp import secret_manager
from functions.gcp.documents import documents
from functions.machine import CLOCK
from functions.once import once
from functions.signed_links import wiring as signed_links
from functions.signed_links.limiter import TooManyCallsError
from functions.signed_links.token import TokenKeys
from functions.webhooks.deliveries import wiring as deliveries
from functions.webhooks.settings.store import SettingsStore
from functions.webhooks.shared_logs.log_links import LogLinks
from functions.webhooks.shared_logs.shared_log import SharedLog
from functions.webhooks.shared_logs.store import LogShareStore
from functions.webhooks.store import WallStore

RESENDS_AN_HOUR: Final = 100
"""Through links, of the deliveries of an event to one URL."""


def keys() -> tuple[str, ...]:
    """Every enabled version of `LOG_LINKS_KEY`, which signs these links alone; the newest first.

    Raises:
        MissingSecretError: the secret has no enabled version.
        Exception: Secret Manager could not be reached.
    """
    return secret_manager.of_this_process().versions("LOG_LINKS_KEY")


@once
def log_links() -> LogLinks:
    """Gives out links for organizers."""
    return LogLinks(
        wall=WallStore(documents()),
        settings=SettingsStore(documents()),
        shares=LogShareStore(documents()),
        keys=lambda: TokenKeys(keys()),
        base_url=parameters.PUBLIC_BASE_URL.value,
        clock=CLOCK,
        new_id=lambda: str(uuid.uuid4()),
    )


@once
def shared_log() -> SharedLog:
    """Serves the bearers of links."""
    return SharedLog(
        settings=SettingsStore(documents()),
        deliveries=deliveries.store(),
        shares=LogShareStore(documents()),
        redelivery=deliveries.redelivery(),
        may_resend=_may_resend,
        clock=CLOCK,
    )


def _may_resend(name: str) -> bool:
    try:
        signed_links.limiter().pass_or_raise(
            "resendSharedWebhook to", name, keys()[0], RESENDS_AN_HOUR
        )
    except TooManyCallsError:
        return False
    return True
