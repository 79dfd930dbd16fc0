"""The sender, put together for this process on first use."""

import ssl
import threading
import time
from collections.abc import Callable, Sequence

import certifi

from functions import parameters
from functions.cache import once
from functions.webhooks.sender import addresses
from functions.webhooks.sender.adapter import PinnedAdapter
from functions.webhooks.sender.http_sender import HttpSender


def sender() -> HttpSender:
    """Posts to receivers, with the authorities and addresses that are trusted here."""
    # The resolver's library is loaded while the first record is being read.
    threading.Thread(target=_resolver, daemon=True).start()
    tls = ssl.create_default_context(cafile=certifi.where())
    if further := parameters.webhook_ca_bundle():
        tls.load_verify_locations(further)
    local = parameters.webhook_allow_loopback()
    return HttpSender(
        adapter=PinnedAdapter(tls, time.monotonic),
        resolve=lambda host, seconds: _resolver()(host, seconds),  # noqa: PLW0108 - loaded late
        monotonic=time.monotonic,
        is_allowed=addresses.is_public_or_loopback if local else addresses.is_public,
    )


@once
def _resolver() -> Callable[[str, float], Sequence[str]]:
    from functions.webhooks.sender.resolver import SystemResolver

    return SystemResolver(time.monotonic)
