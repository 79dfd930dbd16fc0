"""Arguments of organizers' calls: `sendTestWebhook`, `resendWebhook`, `rotateWebhookSecret`."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final, Self

from functions.event_arguments import (
    EventArguments,
    choice_argument,
    flag_argument,
    id_argument,
    number_argument,
    read_event,
    refuse,
)
from functions.webhooks.arguments import place_argument, place_text, time_argument, url_argument
from functions.webhooks.deliveries.delivery import (
    FOREVER,
    UNDELIVERED,
    EndedWithin,
    Outcome,
    Place,
)
from functions.webhooks.messages.event_type import EventType

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
    after: Place | None = None
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


def next_page(until: datetime, after: Place) -> str:
    """The value of `next` in the answer to a page, and in the request for the one that follows."""
    return f"{until.isoformat()}~{place_text(after)}"


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
    first_until, _, place = next_.partition("~") if isinstance(next_, str) else ("", "", "")
    ended_by, after = time_argument(first_until), place_argument(place)
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
