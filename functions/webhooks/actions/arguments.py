"""Arguments of organizers' calls: `sendTestWebhook`, `resendWebhook`, `rotateWebhookSecret`.

A field that is null counts as not given. A wrong value raises `CallError` with `invalid-argument`
and a message that names the field and its rule.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final, Self

from functions.event_arguments import EventArguments, flag_argument, is_id, read_event
from functions.webhooks.arguments import (
    event_type_argument,
    place_argument,
    place_text,
    refuse,
    time_argument,
    url_argument,
)
from functions.webhooks.deliveries.delivery import UNDELIVERED, Outcome, Place
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
        given = data.get("event")
        event_type = EventType.PHOTO_UPLOADED if given is None else event_type_argument(given)
        return cls(**event, url=url_argument(data.get("url")), event_type=event_type)


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Deliveries that ended with one of `outcomes`, from `since` to `until` (now by default).

    `url` and `event_type` narrow the selection. A later page goes on `after` a delivery, and has
    the first page's `until`. A dry run counts the deliveries and sends none.
    """

    since: datetime
    until: datetime | None = None
    after: Place | None = None
    outcomes: tuple[Outcome, ...] = UNDELIVERED
    url: str | None = None
    event_type: EventType | None = None
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
        if not is_id(delivery_id):
            refuse("deliveryId must be the id of a delivery.")
        for name in _OF_A_PAGE:
            if data.get(name) is not None:
                refuse(f"{name} goes with since; leave it out where deliveryId is given.")
        if dry_run:
            refuse("dryRun goes with since; leave it out where deliveryId is given.")
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
        minutes = 0 if given is None else given
        if type(minutes) is not int or not 0 <= minutes <= ANNOUNCED_MINUTES:  # a bool is an int
            refuse(f"activeInMinutes must be a whole number from 0 to {ANNOUNCED_MINUTES}.")
        return cls(**event, active_in=timedelta(minutes=minutes), withdraw=withdraw)


def next_page(until: datetime, after: Place) -> str:
    """The value of `next` in the answer to a page, and in the request for the one that follows."""
    return f"{until.isoformat()}~{place_text(after)}"


def _page(data: Mapping[str, Any], *, dry_run: bool) -> Page:
    url, event, outcome, next_ = (data.get(name) for name in ("url", "event", "outcome", "next"))
    since, until = _moment(data, "since"), _moment(data, "until")
    if since is None:  # it was given: this is no call for one delivery
        refuse("since must be a time.")
    if until is not None and until < since:
        refuse("until must not be before since.")
    outcomes = UNDELIVERED if outcome is None else _OUTCOMES.get(str(outcome))
    if outcomes is None:
        refuse(f"outcome must be one of {', '.join(_OUTCOMES)}.")
    page = Page(
        since=since,
        until=until,
        outcomes=outcomes,
        url=None if url is None else url_argument(url),
        event_type=None if event is None else event_type_argument(event),
        dry_run=dry_run,
    )
    if next_ is None:
        return page
    if dry_run:
        refuse("dryRun counts everything from since on; leave next out.")
    first_until, _, place = next_.partition("~") if isinstance(next_, str) else ("", "", "")
    page = replace(page, until=time_argument(first_until), after=place_argument(place))
    if page.until is None or page.after is None:
        refuse("next must be what the answer before had as next.")
    return page


def _moment(data: Mapping[str, Any], name: str) -> datetime | None:
    """The time in the field of that name, or None."""
    given = data.get(name)
    moment = time_argument(given)
    if given is not None and moment is None:
        refuse(f"{name} must be a time in ISO 8601 with its zone, as in 2026-05-01T18:30:00Z.")
    return moment
