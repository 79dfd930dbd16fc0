"""The sender, put together for this process on first use."""

import ssl
import threading
import time
from collections.abc import Sequence

import certifi

from functions import parameters
from functions.once import once
from functions.webhooks.sender.http_sender import HttpSender
from functions.webhooks.sender.ports import Resolver


def sender() -> HttpSender:
    """Posts to receivers, with the authorities and addresses that are trusted here."""
    # The resolver's library is loaded while the first record is being read.
    threading.Thread(target=_resolver, name="resolver", daemon=True).start()
    tls = ssl.create_default_context(cafile=certifi.where())
    if further := parameters.webhook_ca_bundle():
        tls.load_verify_locations(further)
    return HttpSender(
        tls,
        resolve=_resolve,
        monotonic=time.monotonic,
        allow_loopback=parameters.webhook_allow_loopback(),
    )


@once
def _resolver() -> Resolver:
    from functions.webhooks.sender.resolver import SystemResolver

    return SystemResolver.of_system(time.monotonic)


def _resolve(host: str, seconds: float) -> Sequence[str]:
    return _resolver()(host, seconds)
