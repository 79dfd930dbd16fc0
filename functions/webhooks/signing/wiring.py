"""The secrets of all events, put together for this process on first use."""

import functools
import secrets as chance
import time
from base64 import b64encode
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final

from functions.documents.documents import Documents
from functions.gcp.documents import documents as shared_documents
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
    return secrets_in(shared_documents(), now=lambda: datetime.now(UTC), monotonic=time.monotonic)


def secrets_in(
    documents: Documents, *, now: Callable[[], datetime], monotonic: Callable[[], float]
) -> RememberedSecrets:
    """The secrets in `documents`, by the clocks of a process."""
    return RememberedSecrets(
        SecretStore(documents), new_secret=new_secret, now=now, monotonic=monotonic
    )
