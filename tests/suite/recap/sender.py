"""The recap's parts in this process, on given documents and a given mail service."""

import secrets
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime

from functions.access import Caller, Role
from functions.clock import Clock
from functions.documents.documents import Documents
from functions.mail.sender import MailSender
from functions.mail.sendgrid import SendGridMailer
from functions.parallel import Threads
from functions.preferences.links import PreferencesLinks
from functions.preferences.reach import skip_reason
from functions.recap.audience.guest_store import PAGES_AT_ONCE, GuestStore
from functions.recap.audience.photo_hosts import PhotoHosts
from functions.recap.ledger.recap_store import RecapStore
from functions.recap.ledger.status_store import StatusStore
from functions.recap.quota.complaint_store import ComplaintStore
from functions.recap.quota.mailing_store import MailingStore
from functions.recap.sending.dispatch import REQUESTS_AT_ONCE, SMALL_REQUESTS_AT_ONCE
from functions.recap.sending.places import Places
from functions.recap.sending.planner import Planner
from functions.recap.sending.preview import PREVIEWS_PER_HOUR, RecapPreview
from functions.recap.sending.send_recap import RecapSender
from functions.signed_links.limiter import Limiter
from functions.signed_links.token import TokenKeys
from tests.suite.recap.wall import TENANT

SENDER = MailSender(address="Photo Wall <photos@example.com>")

ORGANIZER = Caller("organizer", Role.ADMIN, TENANT)


def now() -> datetime:
    """The clock."""
    return datetime.now(UTC)


def new_word() -> str:
    """Of letters and digits."""
    return secrets.token_hex(16)


def links() -> Callable[[str], PreferencesLinks]:
    """What makes the links of a mail to the user with an id."""
    keys = TokenKeys(["a-made-up-key" * 3])
    return lambda uid: PreferencesLinks.to("https://example.com", keys, uid, now())


def mailer(host: str) -> SendGridMailer:
    """The mail service at `host`, an address without a path."""
    return SendGridMailer("SG.made-up", host, now)


def recap_sender(documents: Documents, host: str) -> RecapSender:
    """As the deployed function has it, with the mail service at `host`."""
    return RecapSender(
        planner=planner(documents),
        places=Places(),
        mailer=lambda: mailer(host),
        links=links,
        in_parallel=Threads(REQUESTS_AT_ONCE, "mail"),
        small_in_parallel=Threads(SMALL_REQUESTS_AT_ONCE, "mail"),
        clock=Clock(now, time.monotonic, time.sleep),
        new_word=new_word,
        new_mutex=threading.Lock,
    )


def recap_preview(documents: Documents, host: str) -> RecapPreview:
    """The previewer, on the same records."""
    limiter, secret = (
        Limiter(documents, now=now),
        "k" * 32,
    )
    return RecapPreview(
        planner=planner(documents),
        places=Places(),
        statuses=StatusStore(documents),
        mailer=lambda: mailer(host),
        links=links,
        links_of_nobody=lambda: PreferencesLinks.of_nobody("https://example.com"),
        count=lambda uid: limiter.pass_or_raise(
            "previewEventRecap", uid, secret, PREVIEWS_PER_HOUR
        ),
        now=now,
    )


def planner(documents: Documents) -> Planner:
    """As the deployed functions have it."""
    return Planner(
        recaps=RecapStore(documents),
        guests=GuestStore(documents, Threads(PAGES_AT_ONCE, "guests")),
        mailings=MailingStore(documents),
        complaints=ComplaintStore(documents),
        skip_reason=lambda record: skip_reason(record, now()),
        sender=lambda: SENDER,
        shows=PhotoHosts.read("*", "").allow,
        now=now,
        new_word=new_word,
    )
