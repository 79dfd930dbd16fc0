"""Arguments of what an organizer calls: `sendTestWebhook`, `resendWebhook`, `rotateWebhookSecret`.

A field that is null counts as not given. What is wrong raises `CallError` with `invalid-argument`
and a message that names the field and its rule.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final, NoReturn, Self

from functions.call_error import CallError, Code
from functions.event_arguments import EventArguments, is_id, read_event
from functions.webhooks.deliveries.delivery import Cursor
from functions.webhooks.messages.event_type import EventType

URL_CHARACTERS: Final = 2048
ANNOUNCED_MINUTES: Final = 10_080
"""How long before it takes over a secret can be announced: a week."""

_TIME_CHARACTERS: Final = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class TestArguments(EventArguments):
    """`url` is compared with those of the settings, so surrounding blanks do not count."""

    __test__ = False  # no test of pytest's

    url: str
    event: EventType = EventType.PHOTO_UPLOADED

    @classmethod
    def read(cls, data: Any) -> Self:
        """Read the `data` of the request."""
        event = read_event(data)
        given = data.get("event")
        type_ = EventType.PHOTO_UPLOADED if given is None else _event_type(given)
        return cls(**event, url=_url(data.get("url")), event=type_)


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Everything undelivered from `since` on; `after` and `until` where a page came before."""

    since: datetime
    until: datetime | None = None
    after: Cursor | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ResendArguments(EventArguments):
    """What to send again: the delivery with that id, or a page of those that failed."""

    what: str | Page

    @classmethod
    def read(cls, data: Any) -> Self:
        """Read the `data` of the request."""
        event = read_event(data)
        delivery_id, since, next_ = (data.get(name) for name in ("deliveryId", "since", "next"))
        if (delivery_id is None) == (since is None):
            _refuse("Give either deliveryId or since.")
        if delivery_id is not None:
            if not is_id(delivery_id):
                _refuse("deliveryId must be the id of a delivery of the event.")
            if next_ is not None:
                _refuse("next goes with since.")
            return cls(**event, what=delivery_id)
        from_time = _time(since)
        if from_time is None:
            _refuse("since must be a time in ISO 8601 with its zone, as in 2026-05-01T18:30:00Z.")
        if next_ is None:
            return cls(**event, what=Page(since=from_time))
        until, after = _place(next_)
        return cls(**event, what=Page(since=from_time, until=until, after=after))


@dataclass(frozen=True, slots=True, kw_only=True)
class RotateArguments(EventArguments):
    """In how long the new secret takes over; zero is at once."""

    active_in: timedelta = timedelta(0)

    @classmethod
    def read(cls, data: Any) -> Self:
        """Read the `data` of the request."""
        event = read_event(data)
        given = data.get("activeInMinutes")
        minutes = 0 if given is None else given
        if type(minutes) is not int or not 0 <= minutes <= ANNOUNCED_MINUTES:  # a bool is an int
            _refuse(f"activeInMinutes must be a whole number from 0 to {ANNOUNCED_MINUTES}.")
        return cls(**event, active_in=timedelta(minutes=minutes))


def next_page(until: datetime, after: Cursor) -> str:
    """The value of `next` in an answer, and in the request for the page that follows."""
    return f"{until.isoformat()}~{after.ended_at.isoformat()}~{after.delivery_id}"


def _place(next_: object) -> tuple[datetime, Cursor]:
    parts = next_.split("~") if isinstance(next_, str) else []
    until, ended_at, delivery_id = parts if len(parts) == 3 else ("", "", "")  # noqa: PLR2004
    until_time, ended_time = _time(until), _time(ended_at)
    if until_time is None or ended_time is None or not is_id(delivery_id):
        _refuse("next must be what the answer before had as next.")
    return until_time, Cursor(ended_time, delivery_id)


def _url(given: object) -> str:
    if not isinstance(given, str) or len(given) > URL_CHARACTERS:
        _refuse(f"url must be a string of at most {URL_CHARACTERS} characters.")
    return given.strip()


def _event_type(given: object) -> EventType:
    found = next((one for one in EventType if one == given), None)
    if found is None:
        _refuse(f"event must be one of {', '.join(EventType)}.")
    return found


def _time(text: object) -> datetime | None:
    if not isinstance(text, str) or len(text) > _TIME_CHARACTERS:
        return None
    try:
        moment = datetime.fromisoformat(text)
        return moment.astimezone(UTC) if moment.tzinfo else None
    except (ValueError, OverflowError):
        return None


def _refuse(message: str) -> NoReturn:
    raise CallError(Code.INVALID_ARGUMENT, message)
