"""A disabled URL in the settings of an event."""

import re
from datetime import UTC, datetime
from typing import Any

import pytest

from functions.webhooks.settings.webhook_settings import (
    SWITCHED_OFF,
    Subscription,
    WebhookSettings,
    key,
)

URL = "https://example.com/hook"
OTHER = "https://example.com/other"
ENTRY = {"url": URL, "reason": "nobody answers", "at": datetime(2026, 5, 1, tzinfo=UTC)}


@pytest.mark.parametrize(
    ("disabled", "reason"),
    [
        ({key(URL): ENTRY}, "the URL is disabled: nobody answers"),
        ({key(URL): {}}, "the URL is disabled"),
        ({key(URL): None}, "the URL is disabled"),
        ({key(OTHER): ENTRY}, None),
        ({}, None),
        (None, None),
        ([], None),
    ],
)
def test_a_url_is_disabled_by_its_entry(disabled: Any, reason: str | None) -> None:
    """Any other value there disables nothing, and breaks nothing."""
    [read] = WebhookSettings.read({"urls": [URL], "disabled": disabled}).subscriptions

    assert read == Subscription(URL, disabled=reason)


@pytest.mark.parametrize(
    ("off", "reason"),
    [
        ({URL: "2026-05-01T18:30:00.000Z"}, SWITCHED_OFF),
        ({URL: None}, SWITCHED_OFF),
        ({OTHER: "2026-05-01T18:30:00.000Z"}, None),
        ([URL], None),
    ],
)
def test_a_url_is_off_while_its_time_stands_there(off: Any, reason: str | None) -> None:
    """Spec 7.3: an admin's own switch, also at a URL that the service has given up."""
    disabled = {key(URL): ENTRY} if reason else {}
    fields = {"urls": [URL], "off": off, "disabled": disabled}
    [read] = WebhookSettings.read(fields).subscriptions

    assert read == Subscription(URL, disabled=reason)


def test_a_key_needs_no_quotes_in_a_field_path() -> None:
    """So that `disabled.<key>` names the entry in every client library."""
    for url in (URL, "", "https://example.com/ä", "\ud800"):
        assert re.fullmatch(r"[a-z][0-9a-z]*", key(url))
    assert key(URL) != key(OTHER)
