"""The recap's parts, made on first use."""

import secrets
import threading
from collections.abc import Callable
from functools import partial
from typing import Final

from functions import parameters
from functions.gcp.documents import documents
from functions.gcp.project import project_id
from functions.machine import CLOCK
from functions.mail import wiring as mail
from functions.once import once
from functions.parallel import Threads
from functions.preferences.links import PreferencesLinks
from functions.recap.audience.guest_store import PAGES_AT_ONCE, GuestStore
from functions.recap.audience.photo_hosts import PhotoHosts
from functions.recap.ledger.recap_store import RecapStore
from functions.recap.ledger.status_store import StatusStore
from functions.recap.quota.allowance import RecapLimits
from functions.recap.quota.mailing_store import MailingStore
from functions.recap.sending.dispatch import REQUESTS_AT_ONCE, SMALL_REQUESTS_AT_ONCE
from functions.recap.sending.places import Places
from functions.recap.sending.planner import Planner
from functions.recap.sending.preview import PREVIEWS_PER_HOUR, RecapPreview
from functions.recap.sending.send_recap import RecapSender
from functions.signed_links import keys
from functions.signed_links import wiring as signed_links
from functions.signed_links.token import TokenKeys

_WORD_BYTES: Final = 16


@once
def _planner() -> Planner:
    return Planner(
        recaps=RecapStore(documents()),
        guests=GuestStore(documents(), Threads(PAGES_AT_ONCE, "guests")),
        mailings=MailingStore(documents()),
        sender=mail.sender,
        shows=PhotoHosts.read(parameters.PHOTO_HOSTS.value, project_id() or "").allow,
        now=CLOCK.now,
        new_word=partial(secrets.token_hex, _WORD_BYTES),
        limits=RecapLimits(
            per_address=parameters.RECAPS_PER_ADDRESS_A_DAY.value,
            per_tenant=parameters.RECAP_MAILS_PER_DAY.value,
        ),
    )


@once
def sender() -> RecapSender:
    """The use case of `sendEventRecap`."""
    return RecapSender(
        planner=_planner(),
        places=Places(),
        mailer=mail.mailer,
        links=_links,
        in_parallel=Threads(REQUESTS_AT_ONCE, "mail"),
        small_in_parallel=Threads(SMALL_REQUESTS_AT_ONCE, "mail"),
        clock=CLOCK,
        new_mutex=threading.Lock,
    )


@once
def previewer() -> RecapPreview:
    """The use case of `previewEventRecap`."""
    return RecapPreview(
        planner=_planner(),
        places=Places(),
        statuses=StatusStore(documents()),
        mailer=mail.mailer,
        links=_links,
        links_of_nobody=lambda: PreferencesLinks.of_nobody(parameters.PUBLIC_BASE_URL.value),
        count=lambda uid: signed_links.limiter().pass_or_raise(
            "previewEventRecap", uid, keys.values()[0], PREVIEWS_PER_HOUR
        ),
    )


def _links() -> Callable[[str], PreferencesLinks]:
    signing = TokenKeys(keys.values())
    base_url, now = parameters.PUBLIC_BASE_URL.value, CLOCK.now()
    return lambda uid: PreferencesLinks.to(base_url, signing, uid, now)
