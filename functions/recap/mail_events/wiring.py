"""The parts, put together for this process on first use.

Apart from the recap's own: whoever tells of mails calls a function that can read no key.
"""

import functools
import time
from datetime import UTC, datetime
from typing import Final

from functions.gcp import firestore, parameters
from functions.gcp.documents import documents
from functions.mail.sendgrid_events import EventKeys
from functions.preferences.store.user_store import UserStore
from functions.recap.mail_events.complaint_watch import ComplaintWatch
from functions.recap.mail_events.outcome_store import OutcomeStore
from functions.recap.mail_events.recorder import MailEvents
from functions.recap.store.complaint_store import ComplaintStore
from functions.side_by_side import Threads

_AT_ONCE: Final = 8


def now() -> datetime:
    """The time, aware and in UTC."""
    return datetime.now(UTC)


@functools.cache
def keys() -> EventKeys:
    """The keys that requests may be signed with.

    Raises:
        UnusableKeyError: one of them is none.
    """
    return EventKeys(f"{parameters.SENDGRID_WEBHOOK_KEY.value},{parameters.local_mail_key()}")


@functools.cache
def mail_events() -> MailEvents:
    """What the function calls."""
    return MailEvents(
        outcomes=OutcomeStore(firestore.client(), documents()),
        users=UserStore(documents()),
        complaints=ComplaintWatch(ComplaintStore(firestore.client()), now),
        now=now,
        sleep=time.sleep,
        recaps_side_by_side=Threads(_AT_ONCE, "recaps"),
        guests_side_by_side=Threads(_AT_ONCE, "guests"),
    )
