"""The labels of a recap mail, by which its tracking events find their batch (design 3.60).

The mail service keeps labels for years and its staff can see them, so a guest is a hash here.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Self

from functions.event_arguments import is_document_id

# The prefix keeps the labels apart from the mail service's own fields.
_EVENT: Final = "wall_event"
_RECAP: Final = "wall_recap"
_BATCH: Final = "wall_batch"
_GUEST: Final = "wall_guest"

_FORMS: Final = {
    _RECAP: re.compile(r"[A-Za-z0-9]{1,64}", re.ASCII),
    _BATCH: re.compile(r"[0-9]{1,6}", re.ASCII),
    _GUEST: re.compile(r"[0-9a-f]{32}", re.ASCII),
}
"""Of the labels that every mail has, beside the event."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MailLabels:
    """The identity of one mail.

    Attributes:
        event_id: The event.
        recap_id: The recap.
        batch: Number of the batch.
        guest_id: The recipient's id in the ledger, a hash of the address.
    """

    event_id: str
    recap_id: str
    batch: int
    guest_id: str

    def as_texts(self) -> dict[str, str]:
        """The labels by name."""
        return {
            _EVENT: self.event_id,
            _RECAP: self.recap_id,
            _BATCH: str(self.batch),
            _GUEST: self.guest_id,
        }

    @classmethod
    def read(cls, labels: Mapping[str, object]) -> Self | None:
        """The labels of a recap mail; None where a label is missing or malformed."""
        texts = {name: label for name, label in labels.items() if isinstance(label, str)}
        fit = all(form.fullmatch(texts.get(name, "")) for name, form in _FORMS.items())
        if not fit or not is_document_id(texts.get(_EVENT)):
            return None
        return cls(
            event_id=texts[_EVENT],
            recap_id=texts[_RECAP],
            batch=int(texts[_BATCH]),
            guest_id=texts[_GUEST],
        )
