"""What looks and tells, put together on first use, apart from what posts to receivers.

It runs as the account that may read the mail service's key, which those who talk to receivers may
not.
"""

import functools
import uuid
from datetime import UTC, datetime

from functions.gcp import parameters
from functions.gcp.documents import documents
from functions.mail import wiring as mail
from functions.webhooks.notices.notifier import Notifier
from functions.webhooks.store.delivery_store import DeliveryStore
from functions.webhooks.store.notice_store import NoticeStore
from functions.webhooks.store.settings_store import SettingsStore
from functions.webhooks.store.wall_store import WallStore


def _now() -> datetime:
    return datetime.now(UTC)


@functools.cache
def notifier() -> Notifier:
    """What the queue of notices calls."""
    return Notifier(
        notices=NoticeStore(documents()),
        settings=SettingsStore(),
        deliveries=DeliveryStore(documents()),
        wall=WallStore(documents()),
        mailer=mail.mailer,
        letterhead=mail.letterhead,
        base_url=parameters.PUBLIC_BASE_URL.value,
        now=_now,
        new_id=lambda: str(uuid.uuid4()),
    )
