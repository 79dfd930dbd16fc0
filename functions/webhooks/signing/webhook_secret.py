"""What an event's deliveries are signed with (spec 2.1), and what is to take its place."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, Self

FIELDS: Final = ("secret", "rotatedAt", "next")
"""Of the document `events/{eventId}/secrets/webhooks`."""


@dataclass(frozen=True, slots=True)
class NextSecret:
    """A secret that is to sign from `active_from` on."""

    secret: str = field(repr=False)
    active_from: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookSecret:
    """The present secret, since when it signs where it replaced another, and the next one."""

    secret: str = field(repr=False)
    rotated_at: datetime | None = None
    next: NextSecret | None = None

    @classmethod
    def read(cls, fields: Mapping[str, Any]) -> Self | None:
        """Read the fields of the document; None where no secret is in it.

        An announcement that cannot be read is none.
        """
        secret, rotated_at = fields.get("secret"), fields.get("rotatedAt")
        if not isinstance(secret, str) or not secret:
            return None
        return cls(
            secret=secret,
            rotated_at=rotated_at if isinstance(rotated_at, datetime) else None,
            next=_next(fields.get("next")),
        )

    @property
    def fields(self) -> Mapping[str, Any]:
        """What stands in the document, of `FIELDS`."""
        written: dict[str, Any] = {"secret": self.secret}
        if self.rotated_at:
            written["rotatedAt"] = self.rotated_at
        if self.next:
            written["next"] = {"secret": self.next.secret, "activeFrom": self.next.active_from}
        return written

    def is_over(self, now: datetime) -> bool:
        """Whether the next secret is to sign `now`."""
        return self.next is not None and now >= self.next.active_from

    def at(self, now: datetime) -> Self:
        """What it is `now`: from its time on, the next secret alone is left."""
        if self.next is None or not self.is_over(now):
            return self
        return type(self)(secret=self.next.secret, rotated_at=self.next.active_from)


def _next(entry: object) -> NextSecret | None:
    match entry:
        case {"secret": str(secret), "activeFrom": datetime() as active_from} if secret:
            return NextSecret(secret, active_from)
    return None
