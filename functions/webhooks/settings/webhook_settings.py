"""The webhook settings of an event: its URLs, and who is told when a URL fails (spec 2.1, 6.3.4).

The document `events/{eventId}/settings/webhooks` holds `urls`: a list of a URL, or of
`{url, events}`: the event types that the URL takes. `urlsChangedAt` is when that list last changed.
`recover` lists the URLs with a standing order, which sends again what failed there. `notify` lists
e-mail addresses. `off` has
the time at which an admin switched a URL off, under the URL. `disabled` holds, under the `key` of a
URL, `{url, reason, at}`: the service sends nothing to that URL until an admin removes the entry.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, Self

from functions.documents.document import Version
from functions.wall.fields import time
from functions.webhooks.messages.event_type import BY_DEFAULT, EventType

MAX_URLS: Final = 20
"""Webhook URLs of one event (spec 8)."""

MAX_ADDRESSES: Final = 5
"""Addresses in `notify`."""

SWITCHED_OFF: Final = "the URL is switched off"
"""Why nothing is sent to a URL in `off`."""

_NEVER: Final = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Subscription:
    """One URL, as it is configured, and the event types that it takes.

    `disabled` says why nothing is sent to the URL; None for a URL in use. `recover` is the standing
    order (spec 6.5).
    """

    url: str
    event_types: frozenset[EventType] = BY_DEFAULT
    disabled: str | None = None
    recover: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class DisabledUrl:
    """An entry of `disabled`: `reason` is for people."""

    url: str
    reason: str
    at: datetime

    @property
    def fields(self) -> Mapping[str, Any]:
        """The entry as it stands in the document."""
        return {"url": self.url, "reason": self.reason, "at": self.at}


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookSettings:
    """The settings as they were read; an event without the document has no URLs.

    Attributes:
        subscriptions: Each URL once, `MAX_URLS` at most.
        notify: Who is told, as people wrote the addresses, `MAX_ADDRESSES` at most.
        written_at: When the document was last written.
        urls_changed_at: When `urls` last changed; `written_at` in settings from before.
        version: What a conditional write must still find.
    """

    subscriptions: tuple[Subscription, ...] = ()
    notify: tuple[str, ...] = ()
    written_at: datetime = _NEVER
    urls_changed_at: datetime = _NEVER
    version: Version = None

    @classmethod
    def read(
        cls,
        fields: Mapping[str, Any],
        *,
        written_at: datetime = _NEVER,
        version: Version = None,
    ) -> Self:
        """Read the fields of the document.

        An entry of `urls` that cannot be read becomes a subscription of the empty URL, so that the
        mistake shows as a skipped delivery. A URL that stands twice takes the event types of both
        entries. The rules let clients write nothing else into `notify` than a list of addresses; a
        script may have.
        """
        merged: dict[str, frozenset[EventType]] = {}
        ordered = {url for url in _list(fields.get("recover")) if isinstance(url, str)}
        for entry in _list(fields.get("urls"))[:MAX_URLS]:
            url, event_types = _entry(entry)
            merged[url] = merged.get(url, frozenset()) | event_types
            if isinstance(entry, Mapping) and entry.get("recover") is True:  # settings from before
                ordered.add(url)
        off, given_up = _map(fields.get("off")), _map(fields.get("disabled"))
        return cls(
            subscriptions=tuple(
                Subscription(
                    url,
                    event_types,
                    SWITCHED_OFF if url in off else _reason(given_up, url),
                    url in ordered,
                )
                for url, event_types in merged.items()
            ),
            notify=tuple(
                address.strip()
                for address in _list(fields.get("notify"))[:MAX_ADDRESSES]
                if isinstance(address, str)
            ),
            written_at=written_at,
            urls_changed_at=time(fields.get("urlsChangedAt")) or written_at,
            version=version,
        )

    def wants(self, event_type: EventType) -> bool:
        """Whether any URL takes that type."""
        return any(event_type in entry.event_types for entry in self.subscriptions)

    @property
    def by_url(self) -> Mapping[str, Subscription]:
        """The subscriptions by their URLs."""
        return {subscription.url: subscription for subscription in self.subscriptions}


def key(url: str) -> str:
    """The name of `url` in `disabled`, which needs no quotes in a field path."""
    return "u" + hashlib.sha256(url.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _map(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _reason(given_up: Mapping[str, Any], url: str) -> str | None:
    if key(url) not in given_up:
        return None
    entry = given_up[key(url)]
    reason = entry.get("reason") if isinstance(entry, Mapping) else None
    return f"the URL is disabled: {reason}" if isinstance(reason, str) else "the URL is disabled"


def _entry(entry: object) -> tuple[str, frozenset[EventType]]:
    if isinstance(entry, str):
        return entry.strip(), BY_DEFAULT
    if not isinstance(entry, Mapping):
        return "", BY_DEFAULT
    url, events = entry.get("url"), entry.get("events")
    return (
        url.strip() if isinstance(url, str) else "",
        BY_DEFAULT if events is None else _event_types(events),
    )


def _event_types(events: object) -> frozenset[EventType]:
    names = events if isinstance(events, list) else [events]
    return frozenset(event_type for event_type in EventType if event_type in names)
