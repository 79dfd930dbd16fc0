"""Which URL of an event takes which event types (spec 2.1, 6.3.4).

The settings document `events/{eventId}/settings/webhooks` holds `urls`: a list of a URL, or of
`{url, events}` with the event types that URL takes. `disabled` holds, under the `key` of a URL,
`{url, reason, at}`: the service has given that URL up, until an admin removes the entry.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from functions.webhooks.messages.event_type import EventType

MAX_URLS: Final = 20
"""Webhook URLs of one event (spec 8)."""

ALL: Final = frozenset(EventType)


@dataclass(frozen=True, slots=True)
class Subscription:
    """One URL, as it is configured, and the event types that it takes.

    `disabled` says why nothing is sent to it, where nothing is.
    """

    url: str
    events: frozenset[EventType] = ALL
    disabled: str | None = None


def read(settings: Mapping[str, Any] | None) -> tuple[Subscription, ...]:
    """Subscriptions in the fields of a settings document, each URL once, `MAX_URLS` at most.

    An entry that cannot be read becomes a subscription of the empty URL, so that the mistake shows
    as a skipped delivery. A URL that stands twice takes what either entry takes.
    """
    entries = (settings or {}).get("urls")
    if not isinstance(entries, list):
        return ()
    merged: dict[str, frozenset[EventType]] = {}
    for entry in entries[:MAX_URLS]:
        one = _entry(entry)
        merged[one.url] = merged.get(one.url, frozenset()) | one.events
    disabled = (settings or {}).get("disabled")
    given_up = disabled if isinstance(disabled, Mapping) else {}
    return tuple(
        Subscription(url, events, _reason(given_up[key(url)]) if key(url) in given_up else None)
        for url, events in merged.items()
    )


def key(url: str) -> str:
    """Under which `disabled` tells of `url`: a name that needs no quotes in a field path."""
    return "u" + hashlib.sha256(url.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _reason(entry: object) -> str:
    reason = entry.get("reason") if isinstance(entry, Mapping) else None
    return f"the URL is disabled: {reason}" if isinstance(reason, str) else "the URL is disabled"


def _entry(entry: object) -> Subscription:
    if isinstance(entry, str):
        return Subscription(entry.strip())
    if not isinstance(entry, Mapping):
        return Subscription("")
    url, events = entry.get("url"), entry.get("events")
    return Subscription(
        url.strip() if isinstance(url, str) else "",
        ALL if events is None else _event_types(events),
    )


def _event_types(events: object) -> frozenset[EventType]:
    names = events if isinstance(events, list) else [events]
    return frozenset(one for one in EventType if one in names)
