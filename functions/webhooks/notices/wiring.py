"""The notifier, put together for this process on first use.

It runs as the account that may read the mail service's key. The functions that talk to receivers
have another account and import nothing from here.
"""

import functools
import uuid
from datetime import UTC, datetime, timedelta

from functions import parameters
from functions.consents.links import Links
from functions.consents.wiring import consents
from functions.gcp.documents import documents
from functions.mail import wiring as mail
from functions.signed_links import keys
from functions.signed_links import wiring as signed_links
from functions.signed_links.limiter import TooManyCallsError
from functions.webhooks.deliveries.store import DeliveryStore
from functions.webhooks.notices.composer import question
from functions.webhooks.notices.confirmation import Confirmation, Kind
from functions.webhooks.notices.notifier import Notifier
from functions.webhooks.notices.store import NoticeStore
from functions.webhooks.settings.store import SettingsStore
from functions.webhooks.store import WallStore


def _now() -> datetime:
    return datetime.now(UTC)


@functools.cache
def notifier() -> Notifier:
    """What the queue of notices calls."""
    return Notifier(
        notices=NoticeStore(documents()),
        settings=SettingsStore(documents()),
        deliveries=DeliveryStore(documents()),
        wall=WallStore(documents()),
        mailer=mail.mailer,
        letterhead=mail.letterhead,
        willing=_confirmation().willing,
        base_url=parameters.PUBLIC_BASE_URL.value,
        now=_now,
        new_id=lambda: str(uuid.uuid4()),
    )


def _confirmation() -> Confirmation:
    return Confirmation(
        consents=consents(),
        counts=_counts,
        mailer=mail.mailer,
        question=lambda address, consent_id: question(
            address, consent_id, letterhead=mail.letterhead(), links=_links(consent_id)
        ),
        end_link=lambda consent_id: _links(consent_id).end,
        now=_now,
    )


def _counts(kind: Kind, name: str, at_most: int) -> bool:
    secret, limiter = keys.values()[0], signed_links.limiter()
    try:
        limiter.pass_or_raise(kind.name, name, secret, at_most, period=timedelta(days=1))
    except TooManyCallsError:
        return False
    return True


def _links(consent_id: str) -> Links:
    return Links.to(parameters.PUBLIC_BASE_URL.value, keys.token_keys(), consent_id, _now())
