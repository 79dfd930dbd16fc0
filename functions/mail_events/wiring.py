"""The parts of `mailEvents`, made on first use.

They are apart from the recap's own, because the account of `mailEvents` can read no secret.
"""

from typing import Final

from functions import parameters
from functions.gcp.documents import documents
from functions.machine import CLOCK
from functions.mail.sendgrid_events import SendGridWebhook
from functions.mail_events.recorder import MailEvents
from functions.once import once
from functions.parallel import Threads
from functions.preferences.store.user_store import UserStore
from functions.recap.ledger.status_store import StatusStore

_PARALLEL_WRITES: Final = 8


now: Final = CLOCK.now


@once
def webhook() -> SendGridWebhook:
    """The mail provider's reports about mails."""
    return SendGridWebhook(f"{parameters.SENDGRID_WEBHOOK_KEY.value},{parameters.local_mail_key()}")


@once
def mail_events() -> MailEvents:
    """The use case of `mailEvents`."""
    return MailEvents(
        statuses=StatusStore(documents()),
        users=UserStore(documents()),
        clock=CLOCK,
        recaps_in_parallel=Threads(_PARALLEL_WRITES, "recaps"),
        guests_in_parallel=Threads(_PARALLEL_WRITES, "guests"),
    )
