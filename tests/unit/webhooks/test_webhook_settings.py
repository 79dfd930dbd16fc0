"""Spec 2.1, 6.3.4, 7.3 and 8: the parser of an event's webhook settings."""

import re
from datetime import UTC, datetime
from typing import Any, Final

import pytest

from functions.webhooks.events import BY_DEFAULT, EventType
from functions.webhooks.webhook_settings import (
    SWITCHED_OFF,
    Subscription,
    WebhookSettings,
    endpoint_id,
)

URL = "https://example.com/hook"
OTHER = "https://example.com/other"
ENTRY = {"url": URL, "reason": "no answer", "at": datetime(2026, 5, 1, tzinfo=UTC)}
SINCE: Final = "2026-05-01T18:30:00.000Z"


@pytest.mark.parametrize(
    ("urls", "expected"),
    [
        ([], []),
        ([URL], [Subscription(URL, BY_DEFAULT)]),
        ([{"url": URL}], [Subscription(URL, BY_DEFAULT)]),
        ([{"url": URL, "events": None}], [Subscription(URL, BY_DEFAULT)]),
        ([{"url": URL, "events": []}], [Subscription(URL, frozenset())]),
        (
            [{"url": URL, "events": ["guest.joined", "no.such.type", 7, []]}],
            [Subscription(URL, frozenset({EventType.GUEST_JOINED}), has_unknown_types=True)],
        ),
        (
            [{"url": URL, "events": [str(event_type) for event_type in EventType]}],
            [Subscription(URL, frozenset(EventType))],
        ),
        (
            [{"url": URL, "events": "guest.joined"}],
            [Subscription(URL, frozenset({EventType.GUEST_JOINED}))],
        ),
        ([f" {URL}\n"], [Subscription(URL, BY_DEFAULT)]),
        ([{"url": URL, "recover": True}], [Subscription(URL, BY_DEFAULT)]),
        # one delivery for each URL, even if it is configured twice
        ([URL, URL], [Subscription(URL, BY_DEFAULT)]),
        (
            [{"url": URL, "events": ["guest.joined"]}, {"url": URL, "events": ["photo.uploaded"]}],
            [Subscription(URL, frozenset({EventType.GUEST_JOINED, EventType.PHOTO_UPLOADED}))],
        ),
        # a mistake results in a skipped delivery
        ([7, None, {"events": []}], [Subscription("", BY_DEFAULT)]),
    ],
)
def test_an_entry_is_a_url_with_or_without_event_types(
    urls: list[Any], expected: list[Subscription]
) -> None:
    """Spec 6.3.4: without a list, the endpoint subscribes to the seven default types."""
    assert expected == list(WebhookSettings.read({"urls": urls}).subscriptions)


@pytest.mark.parametrize("settings", [{}, {"urls": None}, {"urls": URL}, {"urls": {"a": 1}}])
def test_settings_without_a_list_have_no_urls(settings: Any) -> None:
    """See spec 2.1."""
    assert WebhookSettings.read(settings).subscriptions == ()


@pytest.mark.parametrize(
    ("entry", "names"),
    [
        (URL, (endpoint_id(URL),)),
        ({"url": URL, "id": "screen"}, ("screen", endpoint_id(URL))),
        ({"url": URL, "id": endpoint_id(URL)}, (endpoint_id(URL),)),
    ],
)
def test_an_endpoint_has_each_of_its_names_once(entry: Any, names: tuple[str, ...]) -> None:
    """Records from before the entry had an ID use the key of the URL."""
    [endpoint] = WebhookSettings.read({"urls": [entry]}).subscriptions
    assert endpoint.names == names


def test_only_the_first_endpoint_keeps_an_id_used_twice() -> None:
    """A script may copy an entry. The second endpoint uses the key of its URL."""
    urls = [{"url": URL, "id": "screen"}, {"url": OTHER, "id": "screen"}]
    urls.append({"url": f"{URL}/third", "id": "hall"})
    endpoints = WebhookSettings.read({"urls": urls}).subscriptions
    assert [endpoint.id for endpoint in endpoints] == ["screen", endpoint_id(OTHER), "hall"]


def test_at_most_the_first_twenty_urls_count() -> None:
    """See spec 8."""
    urls = [f"https://example.com/{n}" for n in range(25)]
    assert urls[:20] == [
        subscription.url for subscription in WebhookSettings.read({"urls": urls}).subscriptions
    ]


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"disabled": {endpoint_id(URL): ENTRY}}, "the URL is disabled: no answer"),
        ({"disabled": {endpoint_id(URL): {}}}, "the URL is disabled"),
        ({"disabled": {endpoint_id(URL): None}}, "the URL is disabled"),
        ({"disabled": {endpoint_id(OTHER): ENTRY}}, None),
        ({"disabled": []}, None),
        ({"off": {URL: SINCE}}, SWITCHED_OFF),
        ({"off": {URL: None}, "disabled": {endpoint_id(URL): ENTRY}}, SWITCHED_OFF),
        ({"off": {OTHER: SINCE}}, None),
        ({"off": [URL]}, None),
    ],
)
def test_the_switch_of_an_admin_takes_precedence_over_disabled(
    fields: dict[str, Any], reason: str | None
) -> None:
    """Spec 7.3: the service disables a URL, and an admin can switch it off."""
    [read] = WebhookSettings.read({"urls": [URL]} | fields).subscriptions

    assert read == Subscription(URL, disabled=reason)


def test_a_key_needs_no_quotes_in_a_field_path() -> None:
    """Every client library accepts `disabled.<key>` as a field path."""
    for url in (URL, "", "https://example.com/ä", "\ud800"):
        assert re.fullmatch(r"[a-z][0-9a-z]*", endpoint_id(url))
    assert endpoint_id(URL) != endpoint_id(OTHER)
