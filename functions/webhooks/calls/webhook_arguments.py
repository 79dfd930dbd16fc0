"""Arguments of the calls about webhooks, by organizers and by the bearers of links to a log."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final, Self

from functions.call_rules import (
    EventArguments,
    choice_argument,
    flag_argument,
    id_argument,
    is_id,
    number_argument,
    read_event,
    refuse,
    refuse_unknown,
    time_argument,
)
from functions.links.link import TO_A_LOG
from functions.webhooks.deliveries.delivery import (
    FOREVER,
    UNDELIVERED,
    Cursor,
    EndedWithin,
    Outcome,
)
from functions.webhooks.message import EventType
from functions.webhooks.webhook_settings import Subscription, WebhookSettings

URL_CHARACTERS: Final = 2048
"""Characters of a URL in an argument, at most."""

LONGEST_DAYS: Final = 7
"""How long a share lasts at most, and by default."""


def url_argument(given: object) -> str:
    """A URL as it may stand in the settings, without blanks around it."""
    if not isinstance(given, str) or len(given) > URL_CHARACTERS:
        refuse(f"url must be a string of at most {URL_CHARACTERS} characters.")
    return given.strip()


def endpoint_at(url: str, settings: WebhookSettings) -> Subscription:
    """The event's endpoint at `url`.

    Raises:
        CallError: `invalid-argument`; mostly the URL is mistyped.
    """
    endpoint = settings.by_url.get(url)
    if endpoint is None:
        refuse("url must be one of the event's webhook URLs; add it to them first.")
    return endpoint


def cursor_text(cursor: Cursor) -> str:
    """Where a page stopped, for the call that goes on."""
    return f"{cursor.at.isoformat()}~{cursor.delivery_id}"


def cursor_argument(given: object) -> Cursor | None:
    """The cursor in such a text; None where the text holds none."""
    at, _, delivery_id = given.partition("~") if isinstance(given, str) else ("", "", "")
    moment = time_argument(at)
    return Cursor(moment, delivery_id) if moment and is_id(delivery_id) else None


ANNOUNCED_MINUTES: Final = 10_080
"""How early a secret can be announced: a week."""

_OF_A_PAGE: Final = ("next", "url", "event", "until", "outcome")
"""Arguments of `resendWebhook` that go with `since`."""

_OUTCOMES: Final[Mapping[str, tuple[Outcome, ...]]] = {
    "failed": UNDELIVERED,
    "success": (Outcome.SUCCESS,),
    "any": (*UNDELIVERED, Outcome.SUCCESS),
}
"""Meanings of the field `outcome`: skipped deliveries count as failed ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TestArguments(EventArguments):
    """`url` is compared with those of the settings, so surrounding blanks do not count."""

    __test__ = False  # no test of pytest's

    url: str
    event_type: EventType = EventType.PHOTO_UPLOADED

    @classmethod
    def read(cls, data: Any) -> Self:
        """Read the `data` of the request."""
        event = read_event(data, "url", "event")
        default = EventType.PHOTO_UPLOADED
        event_type = choice_argument("event", data.get("event"), EventType, default)
        return cls(**event, url=url_argument(data.get("url")), event_type=event_type)


@dataclass(frozen=True, slots=True, kw_only=True)
class Page(EndedWithin):
    """The deliveries that a call selects, by their `url` and not by endpoints.

    A later page goes on `after` a delivery, and has the first page's `until`. A dry run counts the
    deliveries and sends none.
    """

    url: str | None = None
    after: Cursor | None = None
    dry_run: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ResendArguments(EventArguments):
    """The delivery to send again, by its id, or a page of deliveries."""

    what: str | Page

    @classmethod
    def read(cls, data: Any) -> Self:
        """Read the `data` of the request."""
        event = read_event(data, "deliveryId", "since", *_OF_A_PAGE, "dryRun")
        delivery_id, since = data.get("deliveryId"), data.get("since")
        if (delivery_id is None) == (since is None):
            refuse("Give either deliveryId or since.")
        dry_run = flag_argument("dryRun", data.get("dryRun"))
        if delivery_id is None:
            return cls(**event, what=_page(data, dry_run=dry_run))
        delivery_id = id_argument("deliveryId", delivery_id, "a delivery")
        of_a_page = {name: data.get(name) for name in _OF_A_PAGE} | {"dryRun": dry_run or None}
        for name, value in of_a_page.items():
            if value is not None:
                refuse(f"{name} goes with since; leave it out where deliveryId is given.")
        return cls(**event, what=delivery_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class RotateArguments(EventArguments):
    """The time until the new secret takes over; zero is at once.

    `withdraw` ends an announced secret instead.
    """

    active_in: timedelta = timedelta(0)
    withdraw: bool = False

    @classmethod
    def read(cls, data: Any) -> Self:
        """Read the `data` of the request."""
        event = read_event(data, "activeInMinutes", "withdraw")
        given = data.get("activeInMinutes")
        withdraw = flag_argument("withdraw", data.get("withdraw"))
        if withdraw and given is not None:
            refuse("withdraw makes no new secret; leave activeInMinutes out.")
        minutes = number_argument("activeInMinutes", given, 0, ANNOUNCED_MINUTES, default=0)
        return cls(**event, active_in=timedelta(minutes=minutes), withdraw=withdraw)


def next_page(until: datetime, after: Cursor) -> str:
    """The value of `next` in the answer to a page, and in the request for the one that follows."""
    return f"{until.isoformat()}~{cursor_text(after)}"


def _page(data: Mapping[str, Any], *, dry_run: bool) -> Page:
    url, event, outcome, next_ = (data.get(name) for name in ("url", "event", "outcome", "next"))
    since, until = _moment(data, "since"), _moment(data, "until") or FOREVER
    if since is None:  # it was given: this is no call for one delivery
        refuse("since must be a time.")
    if until < since:
        refuse("until must not be before since.")
    page = Page(
        since=since,
        until=until,
        outcomes=_OUTCOMES[choice_argument("outcome", outcome, _OUTCOMES, "failed")],
        url=None if url is None else url_argument(url),
        event_type=choice_argument("event", event, EventType, None),
        dry_run=dry_run,
    )
    if next_ is None:
        return page
    if dry_run:
        refuse("dryRun counts everything from since on; leave next out.")
    first_until, _, cursor = next_.partition("~") if isinstance(next_, str) else ("", "", "")
    ended_by, after = time_argument(first_until), cursor_argument(cursor)
    if ended_by is None or after is None:
        refuse("next must be what the answer before had as next.")
    return replace(page, until=ended_by, after=after)


def _moment(data: Mapping[str, Any], name: str) -> datetime | None:
    """The time in the field of that name, or None."""
    given = data.get(name)
    moment = time_argument(given)
    if given is not None and moment is None:
        refuse(f"{name} must be a time in ISO 8601 with its zone, as in 2026-05-01T18:30:00Z.")
    return moment


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
    after: Cursor | None = None

    @classmethod
    def read(cls, data: Any) -> Self:
        """Read the `data` of the request."""
        refuse_unknown(data, "token", "outcome", "event", "after")
        token = TO_A_LOG.token(data)
        given = data.get("after")
        after = cursor_argument(given)
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
