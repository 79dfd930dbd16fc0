"""The notifier, put together for this process on first use.

It runs as the account that may read the mail service's key. The functions that talk to receivers
have another account and import nothing from here.
"""

import functools
import uuid
from datetime import UTC, datetime

from functions import parameters
from functions.gcp.documents import documents
from functions.mail import wiring as mail
from functions.webhooks.deliveries.store import DeliveryStore
from functions.webhooks.notices.notifier import Notifier
from functions.webhooks.notices.store import NoticeStore
from functions.webhooks.settings.store import SettingsStore
from functions.webhooks.store import WallStore


def _now() -> datetime:
    return datetime.now(UTC)


@functools.cache
def notifier() -> Notifier:
    """What the queue of notices calls."""
    return Notifier(
        notices=NoticeStore(documents()),
        settings=SettingsStore(documents()),
        deliveries=DeliveryStore(documents()),
        wall=WallStore(documents()),
        mailer=mail.mailer,
        letterhead=mail.letterhead,
        base_url=parameters.PUBLIC_BASE_URL.value,
        now=_now,
        new_id=lambda: str(uuid.uuid4()),
    )
