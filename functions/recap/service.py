"""The recap's parts, put together for this process on first use."""

import functools
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from functions.gcp import firestore, parameters, secret_manager
from functions.gcp.guest_store import GuestStore
from functions.gcp.recap_store import RecapStore
from functions.gcp.sendgrid_mailer import SendGridMailer
from functions.preferences.token import TokenKeys
from functions.recap.mail import MailLinks
from functions.recap.sender import RecapSender


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
        opted_out=_opted_out,
        mail_from=lambda: parameters.MAIL_FROM.value,
        now=_now,
    )


def _mailer() -> SendGridMailer:
    return SendGridMailer(secret_manager.sendgrid_api_key(), parameters.SENDGRID_HOST.value)


def _links() -> Callable[[str], MailLinks]:
    keys = TokenKeys(secret_manager.email_prefs_keys())
    now = _now()
    base = parameters.PUBLIC_BASE_URL.value.rstrip("/")

    def links(uid: str) -> MailLinks:
        token = keys.issue(uid, now)
        return MailLinks(f"{base}/preferences?token={token}", f"{base}/unsubscribe?token={token}")

    return links


def _opted_out(record: Mapping[str, Any]) -> bool:
    wishes = record.get("emailPreferences")
    return isinstance(wishes, dict) and (
        wishes.get("recap") is False or wishes.get("lifecycle") is False
    )
