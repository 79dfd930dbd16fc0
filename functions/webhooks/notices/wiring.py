"""The parts of the notices, put together for this process on first use.

Each function imports its own parts. The notifier runs as the account that may read the mail
service's key; the functions that talk to receivers have another account, and load no mail.
"""

from __future__ import annotations

import functools
import uuid
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from functions.gcp.documents import documents
from functions.webhooks.deliveries import wiring as deliveries
from functions.webhooks.notices.store import NoticeStore

if TYPE_CHECKING:
    from functions.webhooks.notices.failure_marks import FailureMarks
    from functions.webhooks.notices.notifier import Notifier
    from functions.webhooks.notices.sweeper import NoticeSweeper


def _now() -> datetime:
    return datetime.now(UTC)


def failure_marks() -> FailureMarks:
    """What the worker tells of failed deliveries."""
    from functions.webhooks.notices.failure_marks import FailureMarks

    return FailureMarks(notices=NoticeStore(documents()), enqueue=deliveries.enqueue, now=_now)


@functools.cache
def sweeper() -> NoticeSweeper:
    """What the schedule calls."""
    from functions.side_by_side import Threads
    from functions.webhooks.notices.sweeper import NoticeSweeper

    return NoticeSweeper(
        notices=NoticeStore(documents()),
        enqueue=deliveries.enqueue,
        side_by_side=Threads(deliveries.AT_ONCE, "notices"),
        now=_now,
    )


@functools.cache
def notifier() -> Notifier:
    """What the queue of notices calls."""
    from functions.gcp import parameters
    from functions.mail import wiring as mail
    from functions.webhooks.notices.notifier import Notifier
    from functions.webhooks.settings.store import SettingsStore
    from functions.webhooks.store import WallStore

    return Notifier(
        notices=NoticeStore(documents()),
        settings=SettingsStore(documents()),
        deliveries=deliveries.store(),
        wall=WallStore(documents()),
        mailer=mail.mailer,
        letterhead=mail.letterhead,
        base_url=parameters.PUBLIC_BASE_URL.value,
        now=_now,
        new_id=lambda: str(uuid.uuid4()),
    )
