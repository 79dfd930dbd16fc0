"""An event whose people are told of its webhook URLs, with deliveries that have ended so and so."""

from datetime import timedelta
from typing import Any

from functions.webhooks.attempts.endpoint_health import EndpointHealth
from functions.webhooks.deliveries.delivery import Attempt, Delivery, Outcome
from functions.webhooks.messages.event_type import EventType
from functions.webhooks.notices.watch import Watch
from tests.unit.webhooks.parts import EVENT, NOW, OTHER, URL, Parts

ANN = "ann@example.com"
BOB = "bob@example.com"
WATCH = f"events/{EVENT}/notices/webhooks"


class House(Parts):
    """Minutes count from the beginning; nobody comes by itself, neither a task nor the sweep."""

    def __init__(self, *urls: Any) -> None:
        """Two URLs, and Ann is told."""
        super().__init__()
        self.put(f"events/{EVENT}", {"tenantId": "t1", "name": "Garden party"})
        self.subscribe(*(urls or (URL, OTHER)), notify=[ANN])

    def at_minute(self, minute: float) -> None:
        """It is that late now, and a second: what has happened in it is over."""
        self.now = NOW + timedelta(minutes=minute, seconds=1)

    def ended(
        self, outcome: Outcome = Outcome.FAILED, count: int = 1, url: str = URL, **fields: Any
    ) -> Delivery:
        """Put `count` deliveries on record that have just ended; the last one."""
        for _ in range(count):
            self.now += timedelta(milliseconds=1)
            status = 200 if outcome is Outcome.SUCCESS else 500
            made = Delivery(
                id=f"d{self._new_id()}",
                event_id=EVENT,
                event_type=EventType.PHOTO_UPLOADED,
                url=url,
                body="{}",
                created_at=self.now,
                outcome=outcome,
                attempts=4,
                ended_at=self.now,
                log=(Attempt(number=4, at=self.now, status=status, milliseconds=7),),
                **fields,
            )
            self.stored.create(EVENT, [made])
        return made

    def fails(self, count: int = 1, url: str = URL, *, by: EndpointHealth | None = None) -> None:
        """So many deliveries to it have failed, and who has made the last one sees to it."""
        (by or self.endpoint_health()).delivery_failed(self.ended(count=count, url=url))

    def look(self, minute: float | None = None) -> list[str]:
        """Have somebody look, at that minute; the subjects of what has left meanwhile."""
        if minute is not None:
            self.at_minute(minute)
        before = len(self.mails)
        self.notifier().look(EVENT)
        return [mail.subject for mail in self.mails[before:]]

    def delete_event(self) -> None:
        """What is under it is still there."""
        self.delete(f"events/{EVENT}")

    @property
    def watch(self) -> Watch:
        """What is watched."""
        found = self.database.get(WATCH)
        return found.value if found else Watch()

    @property
    def subjects(self) -> list[str]:
        """The subjects of all mails."""
        return [mail.subject for mail in self.mails]
