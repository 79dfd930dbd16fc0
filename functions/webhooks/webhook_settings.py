"""Webhook settings of an event: endpoints, and email addresses for failure notices (spec 2.1).

The fields of the document `events/{eventId}/settings/webhooks`:

urls           list of URLs, or of `{url, events, id}` with the subscribed event types and an ID
               that stays the same when the URL changes
urlsChangedAt  time at which `urls` last changed
labels         names that organizers have given to endpoints
recover        list of endpoints with automatic recovery
notify         list of email addresses
off            by endpoint, the time at which an admin switched it off
disabled       by endpoint, `{url, reason, at}`. The service sends no deliveries there until an
               admin removes the entry.

`labels`, `recover`, `off` and `disabled` name an endpoint by its ID. If its entry has no ID, they
name it by the key of its URL or by the URL itself.
"""

import hashlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final, Self

from functions import cache, ports
from functions.call.arguments import is_id
from functions.call.errors import refuse
from functions.firestore.model import Document, Documents, Update, Version, as_time
from functions.webhooks.events import BY_DEFAULT, EventType

MAX_URLS: Final = 20
"""Maximum number of webhook URLs of one event (spec 8)."""

MAX_ADDRESSES: Final = 5
"""Maximum number of addresses in `notify` of one event."""

SWITCHED_OFF: Final = "the URL is switched off"
"""Reason that deliveries to a URL in `off` are skipped."""

REMOVED: Final = "the URL was removed"
"""Reason that deliveries to a removed endpoint are skipped."""

UNSUBSCRIBED: Final = "the URL no longer takes this event type"
"""Reason that deliveries of an event type are skipped after the endpoint unsubscribed from it."""

_LONG_AGO: Final = datetime(1970, 1, 1, tzinfo=UTC)
"""Replaces earlier times, so that a duration can be subtracted without an underflow."""


class UnreadableSettingsError(Exception):
    """`urls` is not a list, so removed endpoints cannot be distinguished from configured ones."""


@dataclass(frozen=True, slots=True)
class Subscription:
    """A configured endpoint and the event types that it subscribes to.

    Attributes:
        url: URL of the endpoint.
        event_types: Subscribed event types.
        disabled: Why the endpoint receives no deliveries, or None if it is enabled.
        recover: Whether failed deliveries are redelivered automatically (spec 6.5).
        given_id: ID in the settings. Without one the URL identifies the endpoint.
        label: Name that organizers have given to the endpoint.
    """

    url: str
    event_types: frozenset[EventType] = BY_DEFAULT
    disabled: str | None = None
    recover: bool = False
    given_id: str | None = None
    label: str = ""
    has_unknown_types: bool = False
    """Whether the entry lists an event type that does not exist, such as `*`."""

    @property
    def id(self) -> str:
        """The endpoint's ID in delivery records."""
        return self.given_id or endpoint_id(self.url)

    @property
    def names(self) -> tuple[str, ...]:
        """The ID, and the ID that the endpoint had before its entry had one, without duplicates."""
        return tuple(dict.fromkeys((self.id, endpoint_id(self.url))))


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookSettings:
    """Parsed webhook settings. Without the document, an event has no URLs.

    Attributes:
        subscriptions: At most `MAX_URLS` endpoints, each with a different URL.
        notify: At most `MAX_ADDRESSES` email addresses, as organizers wrote them.
        urls_changed_at: Time at which `urls` last changed. By default the time of the last write.
        version: Version of the document. A conditional write fails if the version has changed.
        is_readable: Whether `urls` is a list or missing.
    """

    subscriptions: tuple[Subscription, ...] = ()
    notify: tuple[str, ...] = ()
    urls_changed_at: datetime = _LONG_AGO
    version: Version | None = None
    is_readable: bool = True

    @classmethod
    def read(
        cls,
        fields: Mapping[str, Any],
        *,
        written_at: datetime = _LONG_AGO,
        version: Version | None = None,
    ) -> Self:
        """Parse the fields of the document.

        An invalid entry of `urls` becomes a subscription of the empty URL, so that the mistake is
        visible as a skipped delivery. A duplicate URL subscribes to the event types of both
        entries. Security rules validate `notify`, but a script may have written other values.
        """
        merged: dict[str, Subscription] = {}
        for entry in _list(fields.get("urls"))[:MAX_URLS]:
            endpoint = _entry(entry)
            same = merged.get(endpoint.url)
            if same:
                endpoint = replace(
                    same,
                    event_types=same.event_types | endpoint.event_types,
                    has_unknown_types=same.has_unknown_types or endpoint.has_unknown_types,
                )
            elif any(endpoint.id == earlier.id for earlier in merged.values()):
                endpoint = replace(endpoint, given_id=None)  # the ID belongs to the first endpoint
            merged[endpoint.url] = endpoint
        off, disabled = _map(fields.get("off")), _map(fields.get("disabled"))
        labels = _map(fields.get("labels"))
        recovered = _list(fields.get("recover"))
        return cls(
            subscriptions=tuple(
                replace(
                    endpoint,
                    disabled=_reason(endpoint, off, disabled),
                    recover=any(name in recovered for name in (*endpoint.names, endpoint.url)),
                    label=_label(endpoint, labels),
                )
                for endpoint in merged.values()
            ),
            notify=tuple(
                address.strip()
                for address in _list(fields.get("notify"))[:MAX_ADDRESSES]
                if isinstance(address, str)
            ),
            urls_changed_at=max(as_time(fields.get("urlsChangedAt")) or written_at, _LONG_AGO),
            version=version,
            is_readable=isinstance(fields.get("urls"), list | None),
        )

    def wants(self, event_type: EventType) -> bool:
        """Return whether any endpoint subscribes to that type."""
        return any(event_type in entry.event_types for entry in self.subscriptions)

    @property
    def by_url(self) -> Mapping[str, Subscription]:
        """The endpoints by their URLs."""
        return {endpoint.url: endpoint for endpoint in self.subscriptions}

    @property
    def by_id(self) -> Mapping[str, Subscription]:
        """The endpoints by their IDs."""
        return {endpoint.id: endpoint for endpoint in self.subscriptions}

    def of(self, endpoint_id: str, url: str) -> Subscription | None:
        """Return the endpoint with that ID, or else with that URL, or None if neither exists."""
        return self.by_id.get(endpoint_id) or self.by_url.get(url)

    def require(self, url: str) -> Subscription:
        """Return the endpoint with that URL.

        Raises:
            CallError: `invalid-argument` if the event has no such URL.
        """
        endpoint = self.by_url.get(url)
        if endpoint is None:
            refuse("url must be one of the event's webhook URLs. Add the URL first.")
        return endpoint


def endpoint_id(url: str) -> str:
    """Return the ID of an endpoint without an ID, in a form that field paths need not quote."""
    return "u" + hashlib.sha256(url.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _map(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _reason(
    endpoint: Subscription, off: Mapping[str, Any], disabled: Mapping[str, Any]
) -> str | None:
    """Return why the endpoint receives no deliveries, or None."""
    names = (*endpoint.names, endpoint.url)
    if any(name in off for name in names):
        return SWITCHED_OFF
    for name in names:
        if name in disabled:
            reason = _map(disabled[name]).get("reason")
            return "the URL is disabled" + (f": {reason}" if isinstance(reason, str) else "")
    return None


def _label(endpoint: Subscription, labels: Mapping[str, Any]) -> str:
    for name in (*endpoint.names, endpoint.url):
        if isinstance(label := labels.get(name), str):
            return label
    return ""


def _entry(entry: object) -> Subscription:
    if isinstance(entry, str):
        return Subscription(entry.strip())
    if not isinstance(entry, Mapping):
        return Subscription("")
    url, events, given_id = entry.get("url"), entry.get("events"), entry.get("id")
    return Subscription(
        url.strip() if isinstance(url, str) else "",
        BY_DEFAULT if events is None else _event_types(events),
        given_id=given_id if is_id(given_id) else None,
        has_unknown_types=events is not None and any(name not in _ALL for name in _names(events)),
    )


_ALL: Final = tuple(EventType)


def _names(events: object) -> list[Any]:
    return events if isinstance(events, list) else [events]


def _event_types(events: object) -> frozenset[EventType]:
    names = _names(events)
    return frozenset(event_type for event_type in EventType if event_type in names)


@dataclass(frozen=True, slots=True)
class SettingsStore:
    """Store of the settings: reads them and writes `disabled`. Every method is one call."""

    documents: Documents

    def event(self, event_id: str) -> Mapping[str, Any] | None:
        """Return the fields of the event itself, or None if it does not exist."""
        found = self.documents.get(f"events/{event_id}")
        return found.fields if found else None

    def load(self, event_id: str) -> WebhookSettings:
        """Return the current settings of the event."""
        return _read(self.documents.get(settings_path(event_id)))

    def load_all(self, event_ids: Collection[str]) -> Mapping[str, WebhookSettings]:
        """Return the settings of each event."""
        records = self.documents.get_all([settings_path(event_id) for event_id in event_ids])
        return dict(zip(event_ids, map(_read, records), strict=True))

    def disable(
        self,
        event_id: str,
        endpoint: Subscription,
        reason: str,
        at: datetime,
        settings: WebhookSettings,
    ) -> None:
        """Disable an endpoint.

        Raises:
            ChangedMeanwhileError: The document has changed since `settings` were read.
        """
        entry = {"url": endpoint.url, "reason": reason, "at": at}
        disabled = {("disabled", endpoint.id): entry}
        self.documents.commit(Update(settings_path(event_id), disabled, version=settings.version))


class RememberedSettings:
    """Cache of the settings of each event, for at most `kept`. Shared by all threads."""

    def __init__(self, store: SettingsStore, clock: ports.Clock, kept: timedelta) -> None:
        self._store = store
        self._clock = clock
        self._kept: cache.TtlCache[str, WebhookSettings] = cache.TtlCache(
            clock, seconds=kept.total_seconds()
        )

    def of(self, event_id: str) -> WebhookSettings:
        """Return the settings of the event.

        Raises:
            UnreadableSettingsError: The endpoints in the document are malformed.
        """
        settings = self._kept.get(event_id)
        if settings is None:
            began = self._clock.monotonic()
            settings = self._store.load(event_id)
            if not settings.is_readable:
                raise UnreadableSettingsError
            self._kept.put(event_id, value=settings, since=began)
        return settings


def _read(record: Document | None) -> WebhookSettings:
    if record is None:
        return WebhookSettings()
    return WebhookSettings.read(record.fields, written_at=record.written, version=record.version)


def settings_path(event_id: str) -> str:
    """Return the path of the settings."""
    return f"events/{event_id}/settings/webhooks"
