"""The notifier, put together for this process on first use.

It runs as the account that may read the mail service's key. The functions that talk to receivers
have another account and import nothing from here.
"""

from datetime import timedelta

from functions import parameters
from functions.gcp.documents import documents
from functions.machine import CLOCK
from functions.mail import wiring as mail
from functions.once import once
from functions.signed_links import keys
from functions.signed_links import wiring as signed_links
from functions.signed_links.limiter import TooManyCallsError
from functions.webhooks.deliveries.store import DeliveryStore
from functions.webhooks.endpoints.store import EndpointStore
from functions.webhooks.notices.notifier import Notifier
from functions.webhooks.notices.people import People
from functions.webhooks.settings.store import SettingsStore
from functions.webhooks.store import WallStore


@once
def notifier() -> Notifier:
    """What the queue of notices calls."""
    return Notifier(
        endpoints=EndpointStore(documents()),
        settings=SettingsStore(documents()),
        deliveries=DeliveryStore(documents()),
        wall=WallStore(documents()),
        people=People(documents(), counts=_counts, clock=CLOCK),
        mailer=mail.mailer,
        sender=mail.sender,
        base_url=parameters.PUBLIC_BASE_URL.value,
        clock=CLOCK,
    )


def _counts(name: str, at_most: int) -> bool:
    secret, limiter = keys.values()[0], signed_links.limiter()
    try:
        limiter.pass_or_raise("notices", name, secret, at_most, period=timedelta(days=1))
    except TooManyCallsError:
        return False
    return True
