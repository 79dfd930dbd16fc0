"""The secrets of all events, put together for this process on first use."""

import secrets as chance
from base64 import b64encode
from typing import Final

from functions.gcp.documents import documents
from functions.machine import CLOCK
from functions.once import once
from functions.webhooks.signing.remembered_secrets import RememberedSecrets
from functions.webhooks.signing.signature import PREFIX
from functions.webhooks.signing.store import SecretStore

_SECRET_BYTES: Final = 32


def new_secret() -> str:
    """A fresh secret: `whsec_` and 32 random bytes in base64, as Standard Webhooks have it."""
    return PREFIX + b64encode(chance.token_bytes(_SECRET_BYTES)).decode()


@once
def secrets() -> RememberedSecrets:
    """Each event's secret, as this process remembers it."""
    return RememberedSecrets(SecretStore(documents()), new_secret=new_secret, clock=CLOCK)
