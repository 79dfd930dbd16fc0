"""A message to many recipients, in the terms of any mail provider."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

NOTICE_LABEL: Final = "wall_notice"
"""Label of a notice that a webhook URL fails; its value is the hash of the address."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Copy:
    """The copy for one recipient.

    Attributes:
        address: The recipient's address; recipients do not see each other's.
        headers: Headers of this copy alone.
        values: The text that replaces each tag of the message.
        labels: Come back with tracking events of this copy; they identify no person.
    """

    address: str
    headers: Mapping[str, str]
    values: Mapping[str, str] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class EmailMessage:
    """The common text of all copies; tags mark the places that differ.

    Nothing that people wrote may contain a tag.

    Attributes:
        sender: `Name <address>` or an address.
        subject: One line.
        text: The plain part, with tags.
        html: The HTML part. A tag stands in both parts only if its value reads the same in both.
        copies: One for each recipient.
        reply_to: The address for replies, in the form of `sender`; None: the sender's.
    """

    sender: str
    subject: str
    text: str
    html: str
    copies: Sequence[Copy]
    reply_to: str | None = None

    def written_out(self) -> "EmailMessage":
        """The message to its only recipient, without tags."""
        [copy] = self.copies
        text, html = self.filled(copy)
        return replace(self, text=text, html=html, copies=[replace(copy, values={})])

    def filled(self, copy: Copy) -> tuple[str, str]:
        """Text and HTML of `copy`."""
        tags = re.compile("|".join(map(re.escape, copy.values)) or r"(?!)")
        text, html = (
            tags.sub(lambda tag: copy.values[tag[0]], part) for part in (self.text, self.html)
        )
        return text, html
