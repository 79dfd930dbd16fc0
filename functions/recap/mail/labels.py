"""The labels of a recap mail, by which its tracking events find their batch (design 3.60).

The mail service keeps labels for years and its staff can see them, so a guest is a hash here.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Self

from functions.event_arguments import is_id

# The prefix keeps the labels apart from the mail service's own fields.
_EVENT: Final = "wall_event"
_RECAP: Final = "wall_recap"
_BATCH: Final = "wall_batch"
_GUEST: Final = "wall_guest"
_UPLOADER: Final = "wall_uploader"

_WORD: Final = re.compile(r"[A-Za-z0-9]{1,64}", re.ASCII)
_NUMBER: Final = re.compile(r"[0-9]{1,6}", re.ASCII)
_HASH: Final = re.compile(r"[0-9a-f]{32}", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class MailLabels:
    """The identity of one mail.

    Attributes:
        event_id: The event.
        recap_id: The recap.
        batch: Number of the batch.
        guest_id: The recipient's id in the ledger, a hash of the address.
        uploader: A hash of who uploaded with the address first; empty where that is unknown.
    """

    event_id: str
    recap_id: str
    batch: int
    guest_id: str
    uploader: str = ""

    def as_texts(self) -> dict[str, str]:
        """The labels by name."""
        return {
            _EVENT: self.event_id,
            _RECAP: self.recap_id,
            _BATCH: str(self.batch),
            _GUEST: self.guest_id,
        } | ({_UPLOADER: self.uploader} if self.uploader else {})

    @classmethod
    def read(cls, labels: Mapping[str, object]) -> Self | None:
        """The labels of a recap mail; None where a label is missing or malformed."""
        event_id, recap_id, batch, guest_id = (
            labels.get(name) for name in (_EVENT, _RECAP, _BATCH, _GUEST)
        )
        if not isinstance(event_id, str) or not is_id(event_id):
            return None
        if not isinstance(recap_id, str) or not _WORD.fullmatch(recap_id):
            return None
        if not isinstance(batch, str) or not _NUMBER.fullmatch(batch):
            return None
        if not isinstance(guest_id, str) or not _HASH.fullmatch(guest_id):
            return None
        uploader = labels.get(_UPLOADER)
        return cls(
            event_id=event_id,
            recap_id=recap_id,
            batch=int(batch),
            guest_id=guest_id,
            uploader=uploader if isinstance(uploader, str) and _HASH.fullmatch(uploader) else "",
        )
