"""Spec 2.1, 6.3.4 and 8: which URL takes which event types."""

from typing import Any

import pytest

from functions.webhooks.messages.event_type import BY_DEFAULT, EventType
from functions.webhooks.settings.webhook_settings import Subscription, WebhookSettings, key

URL = "https://example.com/hook"


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
            [Subscription(URL, frozenset({EventType.GUEST_JOINED}))],
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
        # one delivery for each URL, also where it is configured twice
        ([URL, URL], [Subscription(URL, BY_DEFAULT)]),
        (
            [{"url": URL, "events": ["guest.joined"]}, {"url": URL, "events": ["photo.uploaded"]}],
            [Subscription(URL, frozenset({EventType.GUEST_JOINED, EventType.PHOTO_UPLOADED}))],
        ),
        # a mistake shows as a skipped delivery
        ([7, None, {"events": []}], [Subscription("", BY_DEFAULT)]),
    ],
)
def test_urls(urls: list[Any], expected: list[Subscription]) -> None:
    """A URL, or a URL with its event types; absent means the seven."""
    assert expected == list(WebhookSettings.read({"urls": urls}).subscriptions)


@pytest.mark.parametrize("settings", [{}, {"urls": None}, {"urls": URL}, {"urls": {"a": 1}}])
def test_no_urls(settings: Any) -> None:
    """An event without a list of URLs has no receivers."""
    assert WebhookSettings.read(settings).subscriptions == ()


@pytest.mark.parametrize(
    ("entry", "names"),
    [
        (URL, (key(URL),)),
        ({"url": URL, "id": "screen"}, ("screen", key(URL))),
        ({"url": URL, "id": key(URL)}, (key(URL),)),
    ],
)
def test_an_endpoint_has_each_of_its_names_once(entry: Any, names: tuple[str, ...]) -> None:
    """What is recorded from before its entry had an id goes by the key of the URL."""
    [endpoint] = WebhookSettings.read({"urls": [entry]}).subscriptions
    assert endpoint.names == names


def test_twenty_urls_at_most() -> None:
    """Spec 8."""
    urls = [f"https://example.com/{n}" for n in range(25)]
    assert urls[:20] == [
        subscription.url for subscription in WebhookSettings.read({"urls": urls}).subscriptions
    ]
