"""The records of deliveries, as use cases read and write them.

Every method is one round trip. Each docstring holds for every adapter, the tests' too.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from functions.documents.document import Version
from functions.webhooks.deliveries.delivery import (
    Cursor,
    Delivery,
    Ended,
    EndedWithin,
    Outcome,
    Place,
    SentTo,
)
from functions.webhooks.messages.milestone import Milestone


@dataclass(frozen=True, slots=True)
class StoredDelivery:
    """A delivery as it was read, with the version that a save must still find."""

    delivery: Delivery
    version: Version


class Deliveries(Protocol):
    """The records of deliveries."""

    def create(
        self, event_id: str, deliveries: Iterable[Delivery], milestones: Iterable[Milestone] = ()
    ) -> None:
        """Record all deliveries and milestones in one commit, or none.

        Raises:
            AlreadyRecordedError: one of the records exists.
        """

    def find(self, event_id: str, delivery_ids: Iterable[str]) -> Mapping[str, Delivery]:
        """The deliveries that are on record, by id."""

    def load(self, event_id: str, delivery_id: str) -> StoredDelivery | None:
        """The delivery as it is now, or None."""

    def save(self, delivery: Delivery, version: Version) -> None:
        """Write what an attempt has changed.

        Raises:
            ChangedMeanwhileError: the record is not in `version` any more.
        """

    def restart(self, delivery: Delivery, version: Version) -> None:
        """Write the beginning of another round; the record is kept as long as a new delivery.

        Raises:
            ChangedMeanwhileError: the record is not in `version` any more.
        """

    def ended(
        self, event_id: str, wanted: EndedWithin, after: Cursor | None, limit: int
    ) -> Sequence[StoredDelivery]:
        """One page of the `wanted` deliveries, earliest end first."""

    def count_ended(self, event_id: str, wanted: EndedWithin) -> int:
        """How many deliveries are `wanted`; no delivery is read."""

    def newest(
        self, event_id: str, wanted: SentTo, after: Place | None, limit: int
    ) -> Iterator[Delivery]:
        """The `wanted` deliveries, newest first; a caller that stops reads no more."""

    def last_success(self, event_id: str, url: str) -> datetime | None:
        """When a delivery to `url` was last acknowledged; None where no success is on record."""

    def has_failed_within(self, event_id: str, url: str, after: datetime, until: datetime) -> bool:
        """Whether a delivery to `url` ended failed after `after` and by `until`."""

    def count_failed(self, event_id: str, url: str, after: datetime, at_most: int) -> int:
        """How many deliveries to `url` ended failed after `after`; counts to `at_most`."""

    def last_ended(
        self, event_id: str, url: str, outcomes: Iterable[Outcome], limit: int
    ) -> Sequence[Ended]:
        """The latest deliveries to `url` with one of the `outcomes`, latest end first."""

    def first_failure(self, event_id: str, url: str, after: datetime | None) -> datetime | None:
        """When the first delivery to `url` ended failed after `after`, or None."""

    def overdue(self, before: datetime) -> Iterator[Delivery]:
        """Every delivery of every event whose next attempt was due `before` that moment.

        Read by the page, a round trip each.
        """
