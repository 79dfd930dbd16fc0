"""What recording what became of mails needs of the world; `wiring` names who does it."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from functions.mail.fate import Fate, Tally
from functions.preferences.preferences import Flag
from functions.recap.ports import RecapKey, Version


@dataclass(frozen=True, slots=True)
class StoredOutcomes:
    """What is on record of a recap's mails.

    Attributes:
        sent_to: Recipients of the batches that were asked for, by number, as the ledger has them.
        fates: What is known, by the ids of guests,
        version: in this version of its document; None where there is none yet.
    """

    sent_to: Mapping[int, Collection[str]]
    fates: Mapping[str, Fate]
    version: Version | None


class Outcomes(Protocol):
    """What is known of the mails of recaps."""

    def load(self, key: RecapKey, batches: Collection[int]) -> StoredOutcomes:
        """What is on record of a recap, whether or not there is one."""

    def save(
        self, key: RecapKey, fates: Mapping[str, Fate], change: Tally, version: Version | None
    ) -> None:
        """Replace what is known, and add `change` to what the recap counts: both, or nothing.

        Raises:
            TakenElsewhereError: it is not in that version any more, or the recap is gone.
        """


class Users(Protocol):
    """The user records, those of guests without an account too."""

    def find(self, uid: str) -> Mapping[str, Any] | None:
        """Address and preferences of the user; None where there is no record."""

    def choose(self, uid: str, choices: Mapping[Flag, bool]) -> None:
        """Set some flags and leave everything else as it is; a missing record is made."""

    def mark_unreachable(self, uid: str, until: datetime) -> None:
        """Note that the address takes no mails; a missing record is made."""
