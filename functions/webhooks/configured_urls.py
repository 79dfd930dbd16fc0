"""Which webhook URLs an event has, for whoever names one of them."""

from collections.abc import Mapping

from functions.call_error import CallError, Code
from functions.webhooks.messages import subscriptions
from functions.webhooks.messages.subscriptions import Subscription
from functions.webhooks.ports import Wall


def configured_urls(wall: Wall, event_id: str) -> Mapping[str, Subscription]:
    """The event's subscriptions by their URLs. One round trip."""
    settings = wall.webhook_settings(event_id)
    return {one.url: one for one in subscriptions.read(settings.fields if settings else None)}


def check_url(url: str, configured: Mapping[str, Subscription]) -> None:
    """Let nobody try, filter by or share a URL that the event has not: mostly it is mistyped.

    Raises:
        CallError: `invalid-argument`.
    """
    if url not in configured:
        raise CallError(
            Code.INVALID_ARGUMENT,
            "url must be one of the event's webhook URLs; add it to them first.",
        )
