"""What organizers may ask for, and what they are told otherwise."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from functions.call_error import CallError, Code
from functions.event_arguments import EventArguments
from functions.webhooks.actions.arguments import (
    Page,
    ResendArguments,
    RotateArguments,
    TestArguments,
    next_page,
)
from functions.webhooks.deliveries.delivery import Place
from functions.webhooks.messages.event_type import EventType

SINCE = datetime(2026, 5, 1, 18, 30, tzinfo=UTC)
URL = "https://example.com/hook"
NEXT = "2026-05-01T18:30:00+00:00~2026-05-01T18:30:00+00:00~d-1"
PLACE = Place(datetime(2026, 5, 2, 1, 2, 3, 456789, tzinfo=UTC), "d-1")


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


@pytest.mark.parametrize(
    ("data", "field"),
    [
        ({}, "either deliveryId or since"),
        ({"deliveryId": "d", "since": "2026-05-01T18:30:00Z"}, "either deliveryId or since"),
        ({"deliveryId": ""}, "deliveryId"),
        ({"deliveryId": "a/b"}, "deliveryId"),
        ({"deliveryId": "d\n"}, "deliveryId"),
        ({"deliveryId": "__d__"}, "deliveryId"),
        ({"deliveryId": "d" * 129}, "deliveryId"),
        ({"deliveryId": 1}, "deliveryId"),
        ({"deliveryId": ["d"]}, "deliveryId"),
        ({"deliveryId": "d", "next": "x"}, "next"),
        ({"since": ""}, "since"),
        ({"since": "yesterday"}, "since"),
        ({"since": "2026-05-01"}, "since"),
        ({"since": "2026-05-01T18:30:00"}, "since"),
        ({"since": "0001-01-01T00:00:00+23:59"}, "since"),
        ({"since": "9999-12-31T23:59:59-23:59"}, "since"),
        ({"since": 1777660200}, "since"),
        ({"since": True}, "since"),
        ({"since": "2026-05-01T18:30:00Z", "next": ""}, "next"),
        ({"since": "2026-05-01T18:30:00Z", "next": "a~b~c"}, "next"),
        ({"since": "2026-05-01T18:30:00Z", "next": f"{SINCE}~{SINCE}~a/b"}, "next"),
        ({"since": "2026-05-01T18:30:00Z", "next": 7}, "next"),
        ({"deliveryId": "d", "url": URL}, "url goes with since"),
        ({"deliveryId": "d", "event": "photo.uploaded"}, "event goes with since"),
        ({"deliveryId": "d", "dryRun": True}, "dryRun goes with since"),
        ({"since": "2026-05-01T18:30:00Z", "url": 1}, "url must be a string"),
        ({"since": "2026-05-01T18:30:00Z", "url": "u" * 2049}, "at most 2048 characters"),
        ({"since": "2026-05-01T18:30:00Z", "event": "photo"}, "event must be one of photo.up"),
        ({"since": "2026-05-01T18:30:00Z", "event": ["photo.uploaded"]}, "event must be one of"),
        ({"since": "2026-05-01T18:30:00Z", "dryRun": "true"}, "dryRun must be true or false"),
        ({"since": "2026-05-01T18:30:00Z", "dryRun": 1}, "dryRun must be true or false"),
        ({"since": "2026-05-01T18:30:00Z", "dryRun": True, "next": NEXT}, "leave next out"),
    ],
)
def test_what_cannot_be_sent_again_is_refused(data: dict[str, Any], field: str) -> None:
    """`invalid-argument`, and the message names the field."""
    with pytest.raises(CallError) as refused:
        ResendArguments.read({"eventId": "e1"} | data)

    assert refused.value.code is Code.INVALID_ARGUMENT
    assert field in refused.value.message


@pytest.mark.parametrize("url", [None, 1, ["https://example.com"], {}, "u" * 2049])
def test_a_url_that_is_none_is_refused(url: object) -> None:
    """`invalid-argument`, and the message names the field."""
    with pytest.raises(CallError, match="url") as refused:
        TestArguments.read({"eventId": "e1", "url": url})

    assert refused.value.code is Code.INVALID_ARGUMENT


@pytest.mark.parametrize(("given", "minutes"), [(None, 0), (0, 0), (1, 1), (10_080, 10_080)])
def test_a_secret_is_announced_a_week_before_at_most(given: int | None, minutes: int) -> None:
    """Whole minutes; none is at once."""
    read = RotateArguments.read({"eventId": "e1", "activeInMinutes": given})

    assert read.active_in == timedelta(minutes=minutes)
    assert RotateArguments.read({"eventId": "e1"}).active_in == timedelta(0)


@pytest.mark.parametrize("given", [-1, 10_081, 1.5, 5.0, True, "60", [60], {}, 10**400])
def test_any_other_time_is_refused(given: object) -> None:
    """`invalid-argument`, and the message names the field and its rule."""
    with pytest.raises(CallError, match=r"activeInMinutes must be .* 0 to 10080") as refused:
        RotateArguments.read({"eventId": "e1", "activeInMinutes": given})

    assert refused.value.code is Code.INVALID_ARGUMENT


@pytest.mark.parametrize(
    "arguments", [EventArguments, TestArguments, ResendArguments, RotateArguments]
)
@pytest.mark.parametrize(
    ("data", "field"),
    [
        (None, "eventId"),
        ([], "eventId"),
        ("e1", "eventId"),
        ({}, "eventId"),
        ({"eventId": None}, "eventId"),
        ({"eventId": ""}, "eventId"),
        ({"eventId": "a/b"}, "eventId"),
        ({"eventId": "e1\n"}, "eventId"),
        ({"eventId": "__e1__"}, "eventId"),
        ({"eventId": "e" * 129}, "eventId"),
        ({"eventId": {"a": 1}}, "eventId"),
        ({"eventId": "e1", "tenantId": ""}, "tenantId"),
        ({"eventId": "e1", "tenantId": 1}, "tenantId"),
    ],
)
def test_every_action_needs_an_event(
    arguments: type[EventArguments], data: object, field: str
) -> None:
    """Design 3.2 and 3.5: eventId and tenantId."""
    with pytest.raises(CallError, match=field) as refused:
        arguments.read(data)

    assert refused.value.code is Code.INVALID_ARGUMENT
