"""Arguments of the calls about a shared log, by admins and by the bearers of its link.

A wrong value raises `CallError` with `invalid-argument` and a message that names the field and its
rule; a field that is null counts as not given.
"""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Self

from functions.event_arguments import (
    EventArguments,
    flag_argument,
    is_id,
    read_event,
    refuse_unknown,
)
from functions.signed_links.link import TO_A_LOG
from functions.webhooks.arguments import event_type_argument, place_argument, refuse, url_argument
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
        url, given = url_argument(data.get("url")), data.get("days")
        days = LONGEST_DAYS if given is None else given
        if type(days) is not int or not 1 <= days <= LONGEST_DAYS:  # a bool is an int
            refuse(f"days must be a whole number from 1 to {LONGEST_DAYS}.")
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
        share_id = data.get("shareId")
        if not is_id(share_id):
            refuse("shareId must be the id of a share of the event.")
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
        outcome, event, given = (data.get(name) for name in ("outcome", "event", "after"))
        after = place_argument(given)
        if given is not None and after is None:
            refuse("after must be what the answer before had as next.")
        return cls(
            token=token,
            outcome=None if outcome is None else _outcome(outcome),
            event_type=None if event is None else event_type_argument(event),
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
        delivery_id = data.get("deliveryId")
        if not is_id(delivery_id):
            refuse("deliveryId must be the id of a delivery.")
        return cls(token=token, delivery_id=delivery_id)


def _outcome(given: object) -> Outcome:
    found = next((outcome for outcome in Outcome if outcome == given), None)
    if found is None:
        refuse(f"outcome must be one of {', '.join(Outcome)}.")
    return found
