"""The recap's parts, put together for this process on first use."""

import functools
import secrets
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final

from functions.gcp import firestore, parameters, secret_manager
from functions.gcp.documents import documents
from functions.mail.sendgrid import SendGridMailer
from functions.preferences.links import PreferencesLinks
from functions.preferences.reach import left_out_of_recap
from functions.recap.dispatch import REQUESTS_AT_ONCE
from functions.recap.photo_hosts import PhotoHosts
from functions.recap.ports import Mailer
from functions.recap.send_recap import Limits, RecapSender
from functions.recap.store.guest_store import PAGES_AT_ONCE, GuestStore
from functions.recap.store.mailing_store import MailingStore
from functions.recap.store.recap_store import RecapStore
from functions.side_by_side import Threads
from functions.signed_links import keys

_WORD_BYTES: Final = 16


def _now() -> datetime:
    return datetime.now(UTC)


@functools.cache
def sender() -> RecapSender:
    """What the function calls."""
    client = firestore.client()
    return RecapSender(
        recaps=RecapStore(client),
        guests=GuestStore(client, documents(), Threads(PAGES_AT_ONCE, "guests")),
        mailings=MailingStore(client),
        mailer=_mailer,
        links=_links,
        opted_out=lambda record: left_out_of_recap(record, _now()),
        mail_from=lambda: parameters.MAIL_FROM.value,
        shows=PhotoHosts.read(parameters.PHOTO_HOSTS.value, firestore.project_id() or "").allow,
        side_by_side=Threads(REQUESTS_AT_ONCE, "mail"),
        now=_now,
        monotonic=time.monotonic,
        sleep=time.sleep,
        new_word=lambda: secrets.token_hex(_WORD_BYTES),
        new_mutex=threading.Lock,
        limits=Limits(
            an_address=parameters.RECAPS_PER_ADDRESS_A_DAY.value,
            a_tenant=parameters.RECAP_MAILS_PER_DAY.value,
        ),
    )


def _mailer() -> Mailer:
    [key] = secret_manager.versions("SENDGRID_API_KEY", at_most=1)
    return SendGridMailer(key, parameters.SENDGRID_HOST.value, _now)


def _links() -> Callable[[str], PreferencesLinks]:
    signing = keys.token_keys()
    base_url, now = parameters.PUBLIC_BASE_URL.value, _now()
    return lambda uid: PreferencesLinks.to(base_url, signing, uid, now)
