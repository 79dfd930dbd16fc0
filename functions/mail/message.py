"""A message to many, as any mail service can be told to send it."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Copy:
    """What one recipient gets.

    Attributes:
        address: Of the recipient, who sees nobody else's.
        headers: Of this mail alone.
        values: What stands in place of each tag of the message.
        labels: What the mail service gives back with whatever it tells of this mail later; nothing
            that says who somebody is.
    """

    address: str
    headers: Mapping[str, str]
    values: Mapping[str, str]
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """The same for everybody but for some tags, which no text of people contains.

    Attributes:
        sender: `Name <address>` or an address.
        subject: One line.
        text: The plain part, with tags.
        html: The other part, with tags of its own.
        copies: One for each recipient.
        reply_to: Where answers go, like `sender`; None: to the sender.
    """

    sender: str
    subject: str
    text: str
    html: str
    copies: Sequence[Copy]
    reply_to: str | None = None

    def filled(self, copy: Copy) -> tuple[str, str]:
        """Text and HTML as the recipient of `copy` gets them."""
        tags = re.compile("|".join(map(re.escape, copy.values)) or r"(?!)")
        text, html = (
            tags.sub(lambda tag: copy.values[tag[0]], part) for part in (self.text, self.html)
        )
        return text, html
