"""The recap's parts, put together for this process on first use, and imported then.

The instances of the other functions have no use for them.
"""

from __future__ import annotations

import functools
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from functions.gcp import parameters, secret_manager

if TYPE_CHECKING:
    from collections.abc import Callable

    from functions.gcp.sendgrid_mailer import SendGridMailer
    from functions.preferences.links import PreferencesLinks
    from functions.recap.sender import RecapSender


def _now() -> datetime:
    return datetime.now(UTC)


@functools.cache
def sender() -> RecapSender:
    """What the function calls."""
    from functions.gcp import firestore
    from functions.gcp.guest_store import GuestStore
    from functions.gcp.recap_store import RecapStore
    from functions.preferences.preferences import opted_out_of_recap
    from functions.recap.sender import RecapSender

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
    from functions.gcp.sendgrid_mailer import SendGridMailer

    return SendGridMailer(secret_manager.sendgrid_api_key(), parameters.SENDGRID_HOST.value)


def _links() -> Callable[[str], PreferencesLinks]:
    from functions.preferences.links import PreferencesLinks
    from functions.preferences.token import TokenKeys

    keys = TokenKeys(secret_manager.email_prefs_keys())
    base_url, now = parameters.PUBLIC_BASE_URL.value, _now()
    return lambda uid: PreferencesLinks.to(base_url, keys.issue(uid, now))
