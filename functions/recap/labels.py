"""What a recap mail is labelled with, so that what is told of it later finds it (design 3).

The mail service keeps labels for years and shows them to its own people: a guest is a hash here.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Self

from functions.event_arguments import is_id
from functions.wall.address import guest_uid

# The mail service gives them back beside fields of its own.
_EVENT: Final = "wall_event"
_RECAP: Final = "wall_recap"
_BATCH: Final = "wall_batch"
_GUEST: Final = "wall_guest"
_USER: Final = "wall_user"

_WORD: Final = re.compile(r"[A-Za-z0-9]{1,64}", re.ASCII)
_NUMBER: Final = re.compile(r"[0-9]{1,4}", re.ASCII)
_HASH: Final = re.compile(r"[0-9a-f]{32}", re.ASCII)
_UID: Final = re.compile(r"(?!\.{1,2}\Z)(?!__.*__\Z)[^/\x00-\x1f\x7f]{1,128}")


@dataclass(frozen=True, slots=True, kw_only=True)
class MailLabels:
    """Which mail it is.

    Attributes:
        event_id: Of the event,
        recap_id: of the recap,
        batch: and the number of its batch.
        guest_id: The recipient in the ledger, a hash of the address.
        uid: The user id that the mail's links are for.
    """

    event_id: str
    recap_id: str
    batch: int
    guest_id: str
    uid: str

    def as_texts(self) -> dict[str, str]:
        """The labels; the user id only where it does not follow from the guest."""
        labels = {
            _EVENT: self.event_id,
            _RECAP: self.recap_id,
            _BATCH: str(self.batch),
            _GUEST: self.guest_id,
        }
        return labels if self.uid == guest_uid(self.guest_id) else labels | {_USER: self.uid}

    @classmethod
    def read(cls, labels: Mapping[str, object]) -> Self | None:
        """The labels of a mail of ours; None where they are none, or anybody else's."""
        event_id, recap_id, batch, guest_id, uid = (
            labels.get(one) for one in (_EVENT, _RECAP, _BATCH, _GUEST, _USER)
        )
        if not isinstance(event_id, str) or not is_id(event_id):
            return None
        if not isinstance(recap_id, str) or not _WORD.fullmatch(recap_id):
            return None
        if not isinstance(batch, str) or not _NUMBER.fullmatch(batch):
            return None
        if not isinstance(guest_id, str) or not _HASH.fullmatch(guest_id):
            return None
        if not isinstance(uid, str) or not _UID.fullmatch(uid):
            uid = guest_uid(guest_id)
        return cls(
            event_id=event_id, recap_id=recap_id, batch=int(batch), guest_id=guest_id, uid=uid
        )
