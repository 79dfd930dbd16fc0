"""The webhook secret of an event (spec 2.1), and the announced secret that replaces it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, Self

from functions.firestore.model import Version

FIELDS: Final = ("secret", "rotatedAt", "next")
"""Of the document `events/{eventId}/secrets/webhooks`."""


@dataclass(frozen=True, slots=True)
class NextSecret:
    """A secret that signs from `active_from` on."""

    secret: str = field(repr=False)
    active_from: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookSecret:
    """The present secret, since when it signs where it replaced another, and the next one.

    `version` is that of the record as it was read; None where there was no record.
    """

    secret: str = field(repr=False)
    rotated_at: datetime | None = None
    next: NextSecret | None = None
    version: Version | None = field(default=None, compare=False, repr=False)

    @classmethod
    def read(cls, fields: Mapping[str, Any], version: Version | None = None) -> Self:
        """Read the fields of the document; `secret` is empty where the document holds none.

        An announcement that cannot be read is left out.
        """
        secret, rotated_at = fields.get("secret"), fields.get("rotatedAt")
        if not isinstance(secret, str) or not secret:
            return cls(secret="", version=version)
        return cls(
            secret=secret,
            rotated_at=rotated_at if isinstance(rotated_at, datetime) else None,
            next=_next(fields.get("next")),
            version=version,
        )

    @property
    def fields(self) -> Mapping[str, Any]:
        """The fields of the document, of `FIELDS`."""
        written: dict[str, Any] = {"secret": self.secret}
        if self.rotated_at:
            written["rotatedAt"] = self.rotated_at
        if self.next:
            written["next"] = {"secret": self.next.secret, "activeFrom": self.next.active_from}
        return written

    def is_over(self, now: datetime) -> bool:
        """Whether the next secret signs `now`."""
        return self.next is not None and now >= self.next.active_from

    def at(self, now: datetime) -> Self:
        """The secret as it is `now`: once the next secret is due, it stands alone."""
        if self.next is None or not self.is_over(now):
            return self
        return type(self)(
            secret=self.next.secret, rotated_at=self.next.active_from, version=self.version
        )


def _next(entry: object) -> NextSecret | None:
    match entry:
        case {"secret": str(secret), "activeFrom": datetime() as active_from} if secret:
            return NextSecret(secret, active_from)
    return None
