"""Arguments of the calls about a shared log, by admins and by the bearers of its link."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Self

from functions.event_arguments import (
    EventArguments,
    choice_argument,
    flag_argument,
    id_argument,
    number_argument,
    read_event,
    refuse,
    refuse_unknown,
)
from functions.signed_links.link import TO_A_LOG
from functions.webhooks.arguments import place_argument, url_argument
from functions.webhooks.deliveries.delivery import Outcome, Place
from functions.webhooks.messages.event_type import EventType
from functions.webhooks.shared_logs.log_share import LONGEST_DAYS


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareArguments(EventArguments):
    """The URL whose log to share, for how long, and whether its deliveries can be sent again."""

    url: str
    lasts: timedelta = timedelta(days=LONGEST_DAYS)
    can_resend: bool = False

    @classmethod
    def read(cls, data: Any) -> Self:
        """Read the `data` of the request."""
        event = read_event(data, "url", "days", "canResend")
        url = url_argument(data.get("url"))
        days = number_argument("days", data.get("days"), 1, LONGEST_DAYS, default=LONGEST_DAYS)
        can_resend = flag_argument("canResend", data.get("canResend"))
        return cls(**event, url=url, lasts=timedelta(days=days), can_resend=can_resend)


@dataclass(frozen=True, slots=True, kw_only=True)
class RevokeArguments(EventArguments):
    """The share to end."""

    share_id: str

    @classmethod
    def read(cls, data: Any) -> Self:
        """Read the `data` of the request."""
        event = read_event(data, "shareId")
        share_id = id_argument("shareId", data.get("shareId"), "a share of the event")
        return cls(**event, share_id=share_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class LogArguments:
    """The token and the page; `outcome` and `event_type` narrow the selection."""

    token: str
    outcome: Outcome | None = None
    event_type: EventType | None = None
    after: Place | None = None

    @classmethod
    def read(cls, data: Any) -> Self:
        """Read the `data` of the request."""
        refuse_unknown(data, "token", "outcome", "event", "after")
        token = TO_A_LOG.token(data)
        given = data.get("after")
        after = place_argument(given)
        if given is not None and after is None:
            refuse("after must be what the answer before had as next.")
        return cls(
            token=token,
            outcome=choice_argument("outcome", data.get("outcome"), Outcome, None),
            event_type=choice_argument("event", data.get("event"), EventType, None),
            after=after,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ResendSharedArguments:
    """The token, and the delivery to send again."""

    token: str
    delivery_id: str

    @classmethod
    def read(cls, data: Any) -> Self:
        """Read the `data` of the request."""
        refuse_unknown(data, "token", "deliveryId")
        token = TO_A_LOG.token(data)
        delivery_id = id_argument("deliveryId", data.get("deliveryId"), "a delivery")
        return cls(token=token, delivery_id=delivery_id)
