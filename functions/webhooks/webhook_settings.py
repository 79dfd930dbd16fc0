"""The webhook settings of an event: its endpoints, and who is notified when one fails (spec 2.1).

The document `events/{eventId}/settings/webhooks` holds `urls`: a list of a URL, or of
`{url, events, id}`: the event types that the endpoint takes, and the id that stays where its URL
changes. `urlsChangedAt` is when that list last changed. `labels` has what organizers call
endpoints. `recover` lists endpoints whose failed deliveries are sent again by themselves. `notify`
lists e-mail addresses. `off` has the time at which an admin switched an endpoint off, and
`disabled` holds `{url, reason, at}`: the service sends nothing there until an admin removes the
entry.

`labels`, `recover`, `off` and `disabled` name an endpoint by its id; where its entry has none, by
the key of its URL or by the URL itself.
"""

import hashlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final, Self

from functions.cache import Recent
from functions.call.arguments import is_id
from functions.call.errors import refuse
from functions.firestore.model import Document, Documents, Update, Version, time
from functions.ports import Clock
from functions.webhooks.events import BY_DEFAULT, EventType

MAX_URLS: Final = 20
"""Webhook URLs of one event (spec 8)."""

MAX_ADDRESSES: Final = 5
"""Addresses in `notify` of one event."""

SWITCHED_OFF: Final = "the URL is switched off"
"""Why nothing is sent to a URL in `off`."""

REMOVED: Final = "the URL was removed"
"""Why nothing more is sent to an endpoint that is not configured any longer."""

UNSUBSCRIBED: Final = "the URL no longer takes this event type"
"""Why nothing more of an event type is sent to an endpoint."""

_LONG_AGO: Final = datetime(1970, 1, 1, tzinfo=UTC)
"""Stands for every earlier time, from which nothing could be subtracted."""


class UnreadableSettingsError(Exception):
    """`urls` is not a list, so that no endpoint can be told from a removed one."""


@dataclass(frozen=True, slots=True)
class Subscription:
    """An endpoint, as it is configured, and the event types that it takes.

    `disabled` says why nothing is sent there; None for an endpoint in use. `recover` is whether
    what failed is sent again by itself (spec 6.5). Without a `given_id` the URL names the endpoint.
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
        """What is recorded of the endpoint goes by this name."""
        return self.given_id or key(self.url)

    @property
    def names(self) -> tuple[str, ...]:
        """The id, and the one that the endpoint had before its entry had an id; each once."""
        return tuple(dict.fromkeys((self.id, key(self.url))))


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookSettings:
    """The settings as they were read; an event without the document has no URLs.

    Attributes:
        subscriptions: Each URL once, `MAX_URLS` at most.
        notify: Who is notified, as people wrote the addresses, `MAX_ADDRESSES` at most.
        urls_changed_at: When `urls` last changed, or else the document.
        version: What a conditional write must still find.
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
        """Read the fields of the document.

        An entry of `urls` that cannot be read becomes a subscription of the empty URL, so that the
        mistake shows as a skipped delivery. A URL that stands twice takes the event types of both
        entries. The rules let clients write nothing else into `notify` than a list of addresses; a
        script may have.
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
                endpoint = replace(endpoint, given_id=None)  # the first endpoint of that id has it
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
            urls_changed_at=max(time(fields.get("urlsChangedAt")) or written_at, _LONG_AGO),
            version=version,
            is_readable=isinstance(fields.get("urls"), list | None),
        )

    def wants(self, event_type: EventType) -> bool:
        """Whether any URL takes that type."""
        return any(event_type in entry.event_types for entry in self.subscriptions)

    @property
    def by_url(self) -> Mapping[str, Subscription]:
        """The endpoints by their URLs."""
        return {endpoint.url: endpoint for endpoint in self.subscriptions}

    @property
    def by_id(self) -> Mapping[str, Subscription]:
        """The endpoints by their ids."""
        return {endpoint.id: endpoint for endpoint in self.subscriptions}

    def of(self, endpoint_id: str, url: str) -> Subscription | None:
        """The endpoint of that id, or else at that URL; None where neither is configured."""
        return self.by_id.get(endpoint_id) or self.by_url.get(url)

    def asked_for(self, url: str) -> Subscription:
        """The endpoint at the `url` that a call names; refuses the call where there is none."""
        endpoint = self.by_url.get(url)
        if endpoint is None:
            refuse("url must be one of the event's webhook URLs; add it to them first.")
        return endpoint


def key(url: str) -> str:
    """The id of an endpoint whose entry has none; it needs no quotes in a field path."""
    return "u" + hashlib.sha256(url.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _map(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _reason(
    endpoint: Subscription, off: Mapping[str, Any], disabled: Mapping[str, Any]
) -> str | None:
    """Why nothing is sent to the endpoint, or None."""
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
        given_id=str(given_id) if is_id(given_id) else None,
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
    """Reads an event and its settings, and writes `disabled`; every method is one call."""

    documents: Documents

    def event(self, event_id: str) -> Mapping[str, Any] | None:
        """Fields of the event itself, or None."""
        found = self.documents.get(f"events/{event_id}")
        return found.fields if found else None

    def load(self, event_id: str) -> WebhookSettings:
        """The settings as they are now."""
        return _read(self.documents.get(_path(event_id)))

    def load_all(self, event_ids: Collection[str]) -> Mapping[str, WebhookSettings]:
        """The settings of each event."""
        records = self.documents.get_all([_path(event_id) for event_id in event_ids])
        return dict(zip(event_ids, map(_read, records), strict=True))

    def disable(
        self,
        event_id: str,
        endpoint: Subscription,
        reason: str,
        at: datetime,
        settings: WebhookSettings,
    ) -> None:
        """Disable an endpoint, unless the `settings` were written since they were read.

        Raises:
            ChangedMeanwhileError: the settings were written since.
        """
        entry = {"url": endpoint.url, "reason": reason, "at": at}
        disabled = {("disabled", endpoint.id): entry}
        self.documents.commit(Update(_path(event_id), disabled, version=settings.version))


class RememberedSettings:
    """The settings of each event, at most `SETTINGS_KEPT` old; one instance serves all threads."""

    def __init__(self, store: SettingsStore, clock: Clock, kept: timedelta) -> None:
        self._store = store
        self._clock = clock
        self._kept: Recent[str, WebhookSettings] = Recent(clock, seconds=kept.total_seconds())

    def of(self, event_id: str) -> WebhookSettings:
        """Return the settings of the event.

        Raises:
            UnreadableSettingsError: the document says nothing about the endpoints.
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


def _path(event_id: str) -> str:
    return f"events/{event_id}/settings/webhooks"
