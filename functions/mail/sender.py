"""The sender of a mail and the address for replies: the same on every mail of the deployment."""

import unicodedata
from dataclasses import dataclass
from email.utils import parseaddr
from typing import Final, Self

from functions.mail.outcome import MisconfiguredError
from functions.wall.address import deliverable

ADDRESS_LINE_CHARACTERS: Final = 200
_LINE_BREAKS: Final = frozenset({"Cc", "Zl", "Zp"})


@dataclass(frozen=True, slots=True, kw_only=True)
class MailSender:
    """The sender as the mail service and the reader see it.

    Attributes:
        address: `Name <address>` or an address.
        reply_to: In the same form; None where replies go to the sender.
        address_line: The sender's postal address, one line; may be empty.
    """

    address: str
    reply_to: str | None = None
    address_line: str = ""

    @classmethod
    def read(cls, address: str, reply_to: str, address_line: str) -> Self:
        """Read the parameters `MAIL_FROM`, `MAIL_REPLY_TO` and `MAIL_ADDRESS_LINE`.

        The last two may be empty. The mail service itself checks the address.

        Raises:
            MisconfiguredError: `reply_to` or `address_line` cannot be used.
        """
        reply_to, address_line = reply_to.strip(), address_line.strip()
        if reply_to and not _is_mailbox(reply_to):
            raise MisconfiguredError("MAIL_REPLY_TO", "an e-mail address, or empty")
        if not _is_line(address_line) or len(address_line) > ADDRESS_LINE_CHARACTERS:
            raise MisconfiguredError(
                "MAIL_ADDRESS_LINE",
                f"one line of at most {ADDRESS_LINE_CHARACTERS} characters, or empty",
            )
        return cls(address=address, reply_to=reply_to or None, address_line=address_line)


def _is_line(text: str) -> bool:
    return not any(unicodedata.category(character) in _LINE_BREAKS for character in text)


def _is_mailbox(text: str) -> bool:
    """Whether `text` is an address, or a name and an address."""
    name, address = parseaddr(text)
    # `parseaddr` silently drops the parts of a text that it does not understand.
    whole = text == address or (name and text.endswith(f"<{address}>"))
    return bool(whole) and _is_line(text) and deliverable(address) is not None
