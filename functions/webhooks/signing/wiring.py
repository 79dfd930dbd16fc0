"""The secrets of all events, put together for this process on first use."""

import functools
import secrets as chance
from base64 import b64encode
from typing import Final

from functions.clock import Clock
from functions.documents.documents import Documents
from functions.gcp.documents import documents
from functions.machine import CLOCK
from functions.webhooks.signing.remembered_secrets import RememberedSecrets
from functions.webhooks.signing.signature import PREFIX
from functions.webhooks.signing.store import SecretStore

_SECRET_BYTES: Final = 32


def new_secret() -> str:
    """A fresh secret: `whsec_` and 32 random bytes in base64, as Standard Webhooks have it."""
    return PREFIX + b64encode(chance.token_bytes(_SECRET_BYTES)).decode()


@functools.cache
def secrets() -> RememberedSecrets:
    """Each event's secret, as this process remembers it."""
    return secrets_in(documents())


def secrets_in(given: Documents, clock: Clock = CLOCK) -> RememberedSecrets:
    """The secrets in those documents, by the clocks of a process."""
    return RememberedSecrets(SecretStore(given), new_secret=new_secret, clock=clock)
