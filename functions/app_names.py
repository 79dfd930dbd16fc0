"""Where an app keeps its events and photos, and how the app names their fields.

All other modules know the names of the data model (design 4). An app that lived before the service
may have others. The parameter `APP_NAMES` maps them, the service's name on the left:

    events=weddings,photos=pictures,photo.uploaderEmail=guestMail,photo.status.approved=visible

Only the app's own documents are mapped. The service's records stay below `events/{eventId}`.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Self

RECORDS: Final = frozenset(
    {
        *("settings", "secrets", "deliveries", "notices", "recoveries", "shares", "milestones"),
        *("recaps", "batches", "outcomes", "guestData", "locks", "wall"),
        *("deletedEvents", "users", "rateLimits", "noticeConsents", "recapMails", "recapStops"),
    }
)
"""Names of the service's own collections; the sweeps query several of them in every place."""

_FIELDS: Final = {
    "event": (
        *("tenantId", "status", "name", "template", "galleryUrl", "publishedAt", "archivedAt"),
        *("language", "replyTo", "keepGuestDataDays"),
    ),
    "photo": (
        *("status", "url", "thumbUrl", "featured", "uploaderName", "uploaderEmail", "uploaderUid"),
        *("createdAt", "approvedAt", "approvedBy", "rejectedAt", "rejectedBy", "reason"),
    ),
}
_STATUSES: Final = {
    "event.status": ("draft", "published", "archived"),
    "photo.status": ("pending", "approved", "rejected"),
}
_RESERVED: Final = re.compile(r"__.*__")
"""Firestore refuses such names."""
_COLLECTION: Final = re.compile(r"[A-Za-z0-9_-]{1,100}")
_FIELD: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")
"""A query names such fields without quotes."""
_STATUS: Final = re.compile(r"[\w -]{1,100}")
_RULES: Final = {
    _COLLECTION: "the name of a collection has 1 to 100 of A-Z a-z 0-9 _ -, and no path",
    _FIELD: "the name of a field has 1 to 100 of A-Z a-z 0-9 _, no digit first, and no path",
    _STATUS: "a status has 1 to 100 letters, digits, blanks, _ and -",
}
_KNOWN: Final = {
    **dict.fromkeys(("events", "photos"), _COLLECTION),
    **{f"{kind}.{name}": _FIELD for kind, names in _FIELDS.items() for name in names},
    **{f"{kind}.{name}": _STATUS for kind, names in _STATUSES.items() for name in names},
}


class AppNamesError(ValueError):
    """The map cannot be used; the text says what to change."""

    def __init__(self, text: str) -> None:
        super().__init__(f"APP_NAMES in .env: {text}.")


@dataclass(frozen=True, slots=True)
class FieldNames:
    """The app's names of all fields, and of all values of `status`, by the service's names.

    An empty mapping stands for the service's own names.
    """

    fields: Mapping[str, str] = field(default_factory=dict)
    statuses: Mapping[str, str] = field(default_factory=dict)

    def of(self, name: str) -> str:
        """The app's name of a field."""
        return self.fields.get(name, name)

    def status(self, status: str) -> str:
        """The app's value of `status`."""
        return self.statuses.get(status, status)

    def read(self, found: Mapping[str, Any]) -> Mapping[str, Any]:
        """The fields of an app's document by the service's names; an unknown status is None."""
        if self.fields:
            names = self.fields.items()
            found = {ours: found[theirs] for ours, theirs in names if theirs in found}
        if self.statuses:
            given = found.get("status")
            known = (ours for ours, theirs in self.statuses.items() if theirs == given)
            found = {**found, "status": next(known, None)}
        return found


@dataclass(frozen=True, slots=True)
class AppNames:
    """The app's names; by default those of the data model."""

    events: str = "events"
    photos: str = "photos"
    event: FieldNames = FieldNames()
    photo: FieldNames = FieldNames()

    @classmethod
    def read(cls, text: str) -> Self:
        """Read the parameter; an empty text maps nothing.

        Raises:
            AppNamesError: the map cannot be used.
        """
        given = _pairs(text) if text.strip() else {}
        event, photo = (
            FieldNames(
                _table(kind, _FIELDS[kind], given),
                _table(f"{kind}.status", _STATUSES[f"{kind}.status"], given),
            )
            for kind in ("event", "photo")
        )
        return cls(given.get("events", "events"), given.get("photos", "photos"), event, photo)

    @property
    def maps_events(self) -> bool:
        """Whether `firestore.rules` would look for an event in vain, or misread its fields."""
        return (self.events, self.event) != ("events", FieldNames())

    def event_path(self, event_id: str) -> str:
        """Path of an event."""
        return f"{self.events}/{event_id}"

    def photos_path(self, event_id: str) -> str:
        """Path of the photos of an event."""
        return f"{self.event_path(event_id)}/{self.photos}"

    def photo_path(self, event_id: str, photo_id: str) -> str:
        """Path of a photo."""
        return f"{self.photos_path(event_id)}/{photo_id}"


DATA_MODEL: Final = AppNames()
"""The names of the data model: nothing is mapped."""


def _pairs(text: str) -> Mapping[str, str]:
    """The app's names by the service's, as far as the map has them."""
    given: dict[str, str] = {}
    for entry in text.split(","):
        ours, _, theirs = (part.strip() for part in entry.partition("="))
        if ours not in _KNOWN:
            raise AppNamesError(
                f"{entry.strip()!r} does not begin with a name of the service's and `=`; the names "
                f"are {', '.join(_KNOWN)}"
            )
        if ours in given:
            raise AppNamesError(f"{ours} stands there twice: leave one")
        form = _KNOWN[ours]
        if not form.fullmatch(theirs) or _RESERVED.fullmatch(theirs):
            raise AppNamesError(
                f"{theirs!r} cannot be {ours}: {_RULES[form]}; names of the form __x__ are "
                "Firestore's own"
            )
        if form is _COLLECTION and theirs in RECORDS:
            raise AppNamesError(
                f"{theirs!r} cannot be {ours}: the service keeps records of its own in collections "
                "of that name"
            )
        given[ours] = theirs
    return given


def _table(prefix: str, names: Iterable[str], given: Mapping[str, str]) -> Mapping[str, str]:
    """The app's name of each of `names`; empty where all are the service's own."""
    table: dict[str, str] = {}
    for ours in names:
        theirs = given.get(f"{prefix}.{ours}", ours)
        if theirs in table.values():
            [other] = [name for name, taken in table.items() if taken == theirs]
            raise AppNamesError(
                f"{theirs!r} would be both {prefix}.{other} and {prefix}.{ours}: give each of them "
                "a name of its own"
            )
        table[ours] = theirs
    return {} if all(ours == theirs for ours, theirs in table.items()) else table
