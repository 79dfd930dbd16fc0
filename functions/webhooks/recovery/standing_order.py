"""The standing order at a URL: what failed is sent again once the receiver answers (spec 6.5).

    at rest ──▶ watched ──▶ at rest
         a delivery failed   nothing is left to send again

A watched URL is looked at by every sweep. A look sends deliveries again that failed before the
receiver's latest acknowledgement, the oldest end first. A delivery of the first round alone is sent
again, so that the order repeats each delivery once, and leaves alone what people have sent again.
"""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final, Self

BACK: Final = timedelta(hours=24)
"""What failed longer ago is not sent again."""

OVERLAP: Final = timedelta(minutes=10)
"""A record may be late by so much: what ended since then is looked at again."""

QUIET: Final = timedelta(minutes=2)
"""A URL is at rest once no delivery to it has failed for so long. A worker looks at the failures of
a URL once a minute (`endpoint_health`), and marks none in between."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StandingOrder:
    """What a standing order has to do and has done, `events/{eventId}/recoveries/{key of the URL}`.

    Attributes:
        event_id: Of the event,
        url: and the URL.
        since: What failed before needs no look.
        look_at: From when on the sweep looks; None at rest.
        ran_at: When the order last sent deliveries again; None where it never has.
        resent: How many it has sent again in all.
    """

    event_id: str
    url: str
    since: datetime
    look_at: datetime | None = None
    ran_at: datetime | None = None
    resent: int = 0

    def marked(self, now: datetime) -> Self:
        """This order, now that a delivery has failed; itself where the URL is watched."""
        return self if self.look_at else replace(self, look_at=now)

    def ran(self, resent: int, now: datetime) -> Self:
        """This order, after it has sent so many deliveries again."""
        return replace(self, ran_at=now, resent=self.resent + resent) if resent else self

    def looked_until(self, until: datetime, now: datetime) -> Self:
        """This order, after a look now at all deliveries that had failed by `until`."""
        return replace(self, since=max(self.since, min(until, now - OVERLAP)))

    def due(self, at: datetime | None) -> Self:
        """This order with its next look, or at rest."""
        return replace(self, look_at=at)
