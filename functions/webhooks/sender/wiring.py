"""The sender, put together for this process on first use."""

import functools
import ssl
import threading
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

import certifi

from functions import parameters
from functions.webhooks.sender.http_sender import HttpSender

if TYPE_CHECKING:
    from functions.webhooks.sender.resolver import Resolver


def sender() -> HttpSender:
    """Posts to receivers, with the authorities and addresses that are trusted here."""
    tls = ssl.create_default_context(cafile=certifi.where())
    if further := parameters.webhook_ca_bundle():
        tls.load_verify_locations(further)
    return HttpSender(
        tls,
        resolve=_resolve,
        monotonic=time.monotonic,
        allow_loopback=parameters.webhook_allow_loopback(),
    )


def load_resolver() -> None:
    """Load the resolver's library in a thread, while the first record is being read."""
    threading.Thread(target=_resolver, name="resolver", daemon=True).start()


@functools.cache
def _resolver() -> "Resolver":
    from functions.webhooks.sender.resolver import SystemResolver

    return SystemResolver.of_system(time.monotonic)


def _resolve(host: str, seconds: float) -> Sequence[str]:
    return _resolver()(host, seconds)
