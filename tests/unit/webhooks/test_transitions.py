"""Spec 3.1 and 3.2: the event types that a write of a document fires."""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import pytest

from functions.wall.wall_event import Photo, PhotoStatus, WallEvent
from functions.webhooks.events import (
    EventType,
    WebhookMessage,
    messages_of_event,
    messages_of_photo,
)

SPECIFICATION: Final = Path(__file__).parents[3] / "docs/specification.md"
NOW = datetime(2026, 5, 1, 18, 30, tzinfo=UTC)


def photo(status: Any) -> Photo:
    """Return a photo as the trigger reads it."""
    return Photo.read("p1", {"status": status}, created=NOW, updated=NOW)


def event(status: Any) -> WallEvent:
    """Return an event as the trigger reads it."""
    return WallEvent.read({"status": status}, updated=NOW)


def types(messages: Sequence[WebhookMessage]) -> list[str]:
    """Return the event types of messages."""
    return [message.event_type for message in messages]


def photo_moves() -> Mapping[tuple[str | None, str | None], list[str]]:
    """Read the table of specification 3.1: event types by the status before and after."""
    text = SPECIFICATION.read_text()
    section = text[text.index("### 3.1") : text.index("### 3.2")]
    moves = {}
    for row in re.findall(
        r"^\| ([(`].*?) \| .*? \| ([(`].*?) \| (.*?) ?\|$", section, re.MULTILINE
    ):
        before, after, fired = (re.findall("`(.*?)`", column) for column in row)
        for earlier in before or [None]:
            moves[earlier, after[0] if after else None] = fired
    return moves


@pytest.mark.parametrize("before", [None, *PhotoStatus])
@pytest.mark.parametrize("after", [None, *PhotoStatus])
def test_a_write_of_a_photo_fires_the_types_of_the_table(
    before: PhotoStatus | None, after: PhotoStatus | None
) -> None:
    """Spec 3.1: a write that is not in the table fires only `photo.uploaded`, for an upload."""
    unnamed = [EventType.PHOTO_UPLOADED] if after and not before else []
    moves = photo_moves()
    assert len(moves) >= len([*PhotoStatus]) * 2
    assert moves.get((before, after), unnamed) == types(
        messages_of_photo("w1", photo(before) if before else None, photo(after) if after else None)
    )


@pytest.mark.parametrize(
    ("before", "after", "fired"),
    [
        # the table of spec 3.2
        ("draft", "published", "event.published"),
        ("published", "archived", "event.archived"),
        # an event that does not exist or is archived is also "not live"
        (None, "published", "event.published"),
        ("archived", "published", "event.published"),
        # and all transitions that are not in the table
        (None, "draft", None),
        (None, "archived", None),
        ("draft", "draft", None),
        ("draft", "archived", None),
        ("published", "published", None),
        ("published", "draft", None),
        ("archived", "archived", None),
        ("archived", "draft", None),
        ("published", None, None),
        (None, None, None),
    ],
)
def test_a_write_of_an_event_fires_the_type_of_the_table(
    before: str | None, after: str | None, fired: str | None
) -> None:
    """Spec 3.2: other transitions fire nothing."""
    messages = messages_of_event(
        "w1",
        event(before) if before else None,
        event(after) if after else None,
    )
    assert ([fired] if fired else []) == types(messages)


@pytest.mark.parametrize("status", [None, "", "APPROVED", 1, ["approved"], {"a": 1}])
def test_an_unknown_status_counts_as_pending(status: Any) -> None:
    """An unreadable document must not stop the trigger."""
    assert types(messages_of_photo("w1", None, photo(status))) == ["photo.uploaded"]
    moderated = messages_of_photo("w1", photo(status), photo("approved"))
    assert types(moderated) == ["photo.approved"]
