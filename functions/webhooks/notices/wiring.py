"""What looks and tells, put together on first use, apart from what posts to receivers.

It runs as the account that may read the mail service's key, which those who talk to receivers may
not.
"""

import functools
import uuid
from datetime import UTC, datetime

from functions.gcp import parameters, secret_manager
from functions.gcp.documents import documents
from functions.mail.sendgrid import SendGridMailer
from functions.webhooks.notices.notifier import Notifier
from functions.webhooks.ports import Mailer
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
        mailer=_mailer,
        mail_from=parameters.MAIL_FROM.value,
        base_url=parameters.PUBLIC_BASE_URL.value,
        now=_now,
        new_id=lambda: str(uuid.uuid4()),
    )


def _mailer() -> Mailer:
    [key] = secret_manager.versions("SENDGRID_API_KEY", at_most=1)
    return SendGridMailer(key, parameters.SENDGRID_HOST.value, _now)
