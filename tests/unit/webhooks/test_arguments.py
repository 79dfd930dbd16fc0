"""What organizers and the bearers of links may ask for, and what they are told otherwise."""

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import pytest

from functions.call_rules import CallError, Code, EventArguments
from functions.webhooks.calls.webhook_arguments import (
    LogArguments,
    Page,
    ResendArguments,
    RotateArguments,
    TestArguments,
    next_page,
)
from functions.webhooks.deliveries.delivery import Cursor
from functions.webhooks.message import EventType

SINCE = datetime(2026, 5, 1, 18, 30, tzinfo=UTC)
URL = "https://example.com/hook"
NEXT = "2026-05-01T18:30:00+00:00~2026-05-01T18:30:00+00:00~d-1"
PLACE = Cursor(datetime(2026, 5, 2, 1, 2, 3, 456789, tzinfo=UTC), "d-1")


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ({"deliveryId": "d-1"}, "d-1"),
        ({"deliveryId": "d-1", "since": None, "next": None}, "d-1"),
        ({"since": "2026-05-01T18:30:00Z"}, Page(since=SINCE)),
        ({"since": "2026-05-01T18:30:00.000Z"}, Page(since=SINCE)),
        ({"since": "2026-05-01T20:30:00+02:00"}, Page(since=SINCE)),
        (
            {"since": "2026-05-01T18:30:00Z", "next": next_page(SINCE, PLACE)},
            Page(since=SINCE, until=SINCE, after=PLACE),
        ),
        ({"since": "2026-05-01T18:30:00Z", "dryRun": True}, Page(since=SINCE, dry_run=True)),
        ({"since": "2026-05-01T18:30:00Z", "dryRun": False}, Page(since=SINCE)),
        ({"deliveryId": "d-1", "dryRun": False, "url": None, "event": None}, "d-1"),
        (
            {"since": "2026-05-01T18:30:00Z", "url": f" {URL}\n", "event": "photo.rejected"},
            Page(since=SINCE, url=URL, event_type=EventType.PHOTO_REJECTED),
        ),
    ],
)
def test_what_is_sent_again_is_one_delivery_or_a_page(
    data: dict[str, Any], expected: str | Page
) -> None:
    """`next` leads on from where the page before it stopped, to the microsecond."""
    assert expected == ResendArguments.read({"eventId": "e1"} | data).what


@pytest.mark.parametrize(("given", "minutes"), [(None, 0), (0, 0), (1, 1), (10_080, 10_080)])
def test_a_secret_is_announced_a_week_before_at_most(given: int | None, minutes: int) -> None:
    """The announcement is a whole number of minutes; without one the change is immediate."""
    read = RotateArguments.read({"eventId": "e1", "activeInMinutes": given})

    assert read.active_in == timedelta(minutes=minutes)


@pytest.mark.parametrize("given", [{}, {"event": None}])
def test_a_test_is_an_upload_where_nothing_else_is_asked_for(given: dict[str, Any]) -> None:
    """Spec 4.6: the type is left out, or null."""
    read = TestArguments.read({"eventId": "e1", "url": URL} | given)

    assert read.event_type is EventType.PHOTO_UPLOADED


TIME: Final = "2026-05-01T18:30:00Z"


@pytest.mark.parametrize(
    ("read", "data", "message"),
    [
        (EventArguments.read, None, "data must be an object with the field eventId"),
        (EventArguments.read, {"eventId": "a/b"}, "eventId must be the id of an event"),
        (EventArguments.read, {"tenantId": ""}, "tenantId must be the id of a tenant"),
        (TestArguments.read, {"url": "u" * 2049}, "url must be a string of at most 2048"),
        (TestArguments.read, {"url": URL, "event": "photo"}, f"one of {', '.join(EventType)}"),
        (RotateArguments.read, {"activeInMinutes": True}, "whole number from 0 to 10080"),
        (RotateArguments.read, {"activeInMinutes": 5, "withdraw": True}, "leave activeInMinutes"),
        (ResendArguments.read, {}, "either deliveryId or since"),
        (ResendArguments.read, {"deliveryId": "d", "since": TIME}, "either deliveryId or since"),
        (ResendArguments.read, {"deliveryId": "__d__"}, "deliveryId must be the id"),
        (ResendArguments.read, {"deliveryId": "d", "next": "x"}, "next goes with since"),
        (ResendArguments.read, {"deliveryId": "d", "url": URL}, "url goes with since"),
        (ResendArguments.read, {"deliveryId": "d", "dryRun": True}, "dryRun goes with since"),
        (ResendArguments.read, {"since": "yesterday"}, "since must be a time in ISO 8601"),
        (ResendArguments.read, {"since": "2026-05-01"}, "since must be a time"),
        (ResendArguments.read, {"since": "2026-05-01T18:30:00"}, "since must be a time"),
        (ResendArguments.read, {"since": "0001-01-01T00:00:00+23:59"}, "since must be a time"),
        (ResendArguments.read, {"since": "9999-12-31T23:59:59-23:59"}, "since must be a time"),
        (ResendArguments.read, {"since": 1777660200}, "since must be a time"),
        (ResendArguments.read, {"since": TIME, "next": ""}, "next must be what the answer"),
        (ResendArguments.read, {"since": TIME, "next": "a~b~c"}, "next must be what the answer"),
        (ResendArguments.read, {"since": TIME, "next": f"{SINCE}~{SINCE}~a/b"}, "next must be"),
        (ResendArguments.read, {"since": TIME, "next": 7}, "next must be what the answer"),
        (ResendArguments.read, {"since": TIME, "dryRun": 1}, "dryRun must be true or false"),
        (ResendArguments.read, {"since": TIME, "dryRun": True, "next": NEXT}, "leave next out"),
        (LogArguments.read, {"token": "t", "after": "~"}, "after must be what the answer"),
        (LogArguments.read, {"token": "t", "after": "2026-05-01~d1"}, "after must be what"),
        (LogArguments.read, {"token": "t", "after": f"{TIME}~a/b"}, "after must be what"),
        (LogArguments.read, {"token": "t", "after": f"{TIME}~d1~d2"}, "after must be what"),
        (LogArguments.read, {"token": "t", "after": 7}, "after must be what the answer"),
    ],
)
def test_what_is_refused(read: Callable[[Any], object], data: Any, message: str) -> None:
    """`invalid-argument` names field and rule; values of all kinds: `test_openapi_file.py`."""
    if isinstance(data, dict) and "token" not in data:
        data = {"eventId": "e1"} | data
    with pytest.raises(CallError, match=re.escape(message)) as refused:
        read(data)

    assert refused.value.code is Code.INVALID_ARGUMENT
