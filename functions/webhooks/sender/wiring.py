"""The sender, put together for this process on first use."""

import ssl
import threading
import time

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
        tls=tls,
        resolve=lambda host, seconds: _resolver()(host, seconds),  # noqa: PLW0108 - loaded late
        monotonic=time.monotonic,
        allow_loopback=parameters.webhook_allow_loopback(),
    )


@once
def _resolver() -> Resolver:
    from functions.webhooks.sender.resolver import SystemResolver

    return SystemResolver(time.monotonic)
