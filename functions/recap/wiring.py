"""The recap's parts, put together for this process on first use."""

import functools
from collections.abc import Callable
from datetime import UTC, datetime

from functions.gcp import firestore, parameters, secret_manager
from functions.preferences import keys
from functions.preferences.links import PreferencesLinks
from functions.preferences.preferences import opted_out_of_recap
from functions.recap.mail.sendgrid import SendGridMailer
from functions.recap.send_recap import RecapSender
from functions.recap.store.guest_store import GuestStore
from functions.recap.store.recap_store import RecapStore


def _now() -> datetime:
    return datetime.now(UTC)


@functools.cache
def sender() -> RecapSender:
    """What the function calls."""
    client = firestore.client()
    return RecapSender(
        recaps=RecapStore(client),
        guests=GuestStore(client),
        mailer=_mailer,
        links=_links,
        opted_out=opted_out_of_recap,
        mail_from=lambda: parameters.MAIL_FROM.value,
        now=_now,
    )


def _mailer() -> SendGridMailer:
    return SendGridMailer(
        secret_manager.versions("SENDGRID_API_KEY", at_most=1)[0], parameters.SENDGRID_HOST.value
    )


def _links() -> Callable[[str], PreferencesLinks]:
    signing = keys.token_keys()
    base_url, now = parameters.PUBLIC_BASE_URL.value, _now()
    return lambda uid: PreferencesLinks.to(base_url, signing, uid, now)
