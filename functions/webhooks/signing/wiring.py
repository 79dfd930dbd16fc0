"""The secrets of all events, put together for this process on first use."""

import functools
import time
from collections.abc import Callable
from datetime import UTC, datetime

from functions.documents.documents import Documents
from functions.gcp.documents import documents as shared_documents
from functions.webhooks.signing.remembered_secrets import RememberedSecrets
from functions.webhooks.signing.store import SecretStore, new_secret


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
