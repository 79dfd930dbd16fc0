"""The recap's parts in this process, on given documents and a given mail service."""

import secrets
import time
from collections.abc import Callable
from datetime import UTC, datetime

from functions.access import Caller, Role
from functions.clock import Clock
from functions.firestore.model import Documents
from functions.mail.sendgrid import SendGridMailer
from functions.parallel import Threads
from functions.preferences.links import PreferencesLinks
from functions.recap.dispatch import REQUESTS_AT_ONCE
from functions.recap.preview import PREVIEWS_PER_HOUR
from functions.signed_links.limiter import Limiter
from functions.signed_links.token import TokenKeys
from tests.in_memory.recap_use_cases import RecapUseCases
from tests.suite.recap.wall import TENANT

ORGANIZER = Caller("organizer", Role.ADMIN, TENANT)


def now() -> datetime:
    """The clock."""
    return datetime.now(UTC)


def new_word() -> str:
    """Of letters and digits."""
    return secrets.token_hex(16)


def links() -> Callable[[str, str], PreferencesLinks]:
    """What makes the links of a mail from the ids that they name."""
    keys = TokenKeys(["a-made-up-key" * 3])
    return lambda uid, box: PreferencesLinks.to("https://example.com", keys, uid, box, now())


def use_cases(documents: Documents, host: str = "http://127.0.0.1:9") -> RecapUseCases:
    """As the deployed functions have them, with the mail service at `host`."""
    limiter = Limiter(documents, now=now)
    return RecapUseCases(
        documents=documents,
        clock=Clock(now, time.monotonic, time.sleep),
        mailer=lambda: SendGridMailer("SG.made-up", host, now),
        links=links(),
        new_word=new_word,
        in_parallel=Threads(REQUESTS_AT_ONCE, "recap"),
        count=lambda uid: limiter.pass_or_raise(
            "previewEventRecap", uid, "k" * 32, PREVIEWS_PER_HOUR
        ),
    )
