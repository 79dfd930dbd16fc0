"""From a message to a delivery for each URL that takes its event type (spec 6.3.4)."""

from collections.abc import Sequence
from datetime import datetime

from functions.webhooks.deliveries.delivery import Delivery
from functions.webhooks.messages.message import Message
from functions.webhooks.settings.webhook_settings import Subscription


def fan_out(
    message: Message, event_id: str, subscribed: Sequence[Subscription], now: datetime
) -> list[Delivery]:
    """The deliveries of `message`, created `now`, one for each URL that takes its type."""
    takers = [entry for entry in subscribed if message.event_type in entry.event_types]
    if not takers:
        return []
    data = message.payload()
    return [
        Delivery.create(
            cause=message.cause,
            event_id=event_id,
            event_type=message.event_type,
            url=taker.url,
            endpoint=taker.id,
            data=data,
            now=now,
            disabled=taker.disabled,
            written_at=message.written_at,
        ).due_after(now + message.wait)
        for taker in takers
    ]
