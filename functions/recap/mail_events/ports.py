"""The ports of `mailEvents`; `wiring` names the classes behind them."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from functions.documents.document import Version
from functions.mail.tracking import DeliveryStatus, Tally
from functions.preferences.preferences import Flag
from functions.recap.ports import RecapKey


@dataclass(frozen=True, slots=True)
class StoredStatuses:
    """The recorded statuses of a recap's mails.

    Attributes:
        sent_to: Recipients of the requested batches, by batch number, from the ledger.
        statuses: The statuses by guest id.
        version: Version of the document that holds them; None before the first status.
    """

    sent_to: Mapping[int, Collection[str]]
    statuses: Mapping[str, DeliveryStatus]
    version: Version | None


class DeliveryStatuses(Protocol):
    """The delivery statuses of recap mails."""

    def load(self, key: RecapKey, batches: Collection[int]) -> StoredStatuses:
        """The recorded statuses of a recap; empty where the recap does not exist."""

    def save(
        self,
        key: RecapKey,
        statuses: Mapping[str, DeliveryStatus],
        change: Tally,
        version: Version | None,
    ) -> None:
        """Replace the statuses and add `change` to the recap's counts, in one commit.

        Raises:
            ChangedMeanwhileError: the document has another version, or the recap is gone.
        """


class Users(Protocol):
    """The user records, including those of guests without an account."""

    def find(self, uid: str) -> Mapping[str, Any] | None:
        """Address and preferences of the user; None without a record."""

    def choose(self, uid: str, choices: Mapping[Flag, bool]) -> None:
        """Set some flags and leave all other fields alone; creates a missing record."""

    def mark_unreachable(self, uid: str, until: datetime) -> None:
        """Note that the address accepts no mail; creates a missing record."""


class Consents(Protocol):
    """Whether addresses take notices; see `consents.store`."""

    def end_known(self, consent_id: str, at: datetime) -> bool:
        """End the consent if it is on record and has not ended; whether that was so."""
