"""Spec 3.1 and 3.2: which write of a document fires which event types."""

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
    """A photo as the trigger reads it."""
    return Photo.read("p1", {"status": status}, created=NOW, updated=NOW)


def event(status: Any) -> WallEvent:
    """An event as the trigger reads it."""
    return WallEvent.read({"status": status}, updated=NOW)


def types(messages: Sequence[WebhookMessage]) -> list[str]:
    """Event types of messages."""
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
def test_a_photos_write_fires(before: PhotoStatus | None, after: PhotoStatus | None) -> None:
    """Spec 3.1, row by row. A write that the table does not name fires only for an upload."""
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
        # an event that does not exist yet or is archived is "not live" as well
        (None, "published", "event.published"),
        ("archived", "published", "event.published"),
        # and every move that it does not name
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
def test_an_events_write_fires(before: str | None, after: str | None, fired: str | None) -> None:
    """Spec 3.2, row by row, and all other moves."""
    messages = messages_of_event(
        "w1",
        event(before) if before else None,
        event(after) if after else None,
    )
    assert ([fired] if fired else []) == types(messages)


@pytest.mark.parametrize("status", [None, "", "APPROVED", 1, ["approved"], {"a": 1}])
def test_an_unknown_status_is_a_photo_nobody_moderated(status: Any) -> None:
    """A document that cannot be read does not stop the trigger."""
    assert types(messages_of_photo("w1", None, photo(status))) == ["photo.uploaded"]
    moderated = messages_of_photo("w1", photo(status), photo("approved"))
    assert types(moderated) == ["photo.approved"]
