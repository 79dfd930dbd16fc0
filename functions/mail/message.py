"""An email to many recipients, its sender, and the port of the email provider with its key."""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Protocol, Self

from functions.email_address import deliverable
from functions.mail.outcome import MisconfiguredError, SendOutcome
from functions.ports import MissingSecretError, SecretReader

EVENT_NAME_CHARACTERS: Final = 150

BYTES_PER_RECIPIENT: Final = 9_500
"""Maximum size of one recipient's substitutions, in bytes of JSON. SendGrid's limit is 10,000."""

RECAP_LABEL: Final = "wall_recap"
GUEST_LABEL: Final = "wall_guest"
"""Labels with the IDs of recap and guest, which are the same if an email is repeated."""

NOTICE_LABEL: Final = "wall_notice"
"""Label of an email to staff of an event. Its value is the hash of the address."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Copy:
    """The copy for one recipient.

    Attributes:
        address: The recipient's address. No other recipient sees it.
        headers: Additional headers of this copy.
        values: The text that replaces each tag of the message.
        labels: Labels that delivery reports about this copy return. They identify no person.
    """

    address: str
    headers: Mapping[str, str]
    values: Mapping[str, str] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class EmailMessage:
    """The common text of all copies. Tags mark the places that differ.

    No text that people wrote may contain a tag.

    Attributes:
        sender: `Name <address>` or an address.
        subject: One line.
        text: The plain part, with tags.
        html: The HTML part. A tag is in both parts only if its value is the same in both.
        copies: One copy for each recipient.
        reply_to: The address for replies, in the form of `sender`. None means the sender.
    """

    sender: str
    subject: str
    text: str
    html: str
    copies: Sequence[Copy]
    reply_to: str | None = None

    def rendered(self) -> "EmailMessage":
        """Return the message to its only recipient, without tags."""
        [copy] = self.copies
        text, html = self.render(copy)
        return replace(self, text=text, html=html, copies=[replace(copy, values={})])

    def render(self, copy: Copy) -> tuple[str, str]:
        """Return the text and HTML of `copy`."""
        tags = re.compile("|".join(map(re.escape, copy.values)) or r"(?!)")
        text, html = (
            tags.sub(lambda tag: copy.values[tag[0]], part) for part in (self.text, self.html)
        )
        return text, html


ADDRESS_LINE_CHARACTERS: Final = 200
_LINE_BREAKS: Final = frozenset({"Cc", "Zl", "Zp"})


@dataclass(frozen=True, slots=True, kw_only=True)
class MailSender:
    """The sender that the email provider and the recipient see.

    Attributes:
        address: `MAIL_FROM`, as `Name <address>` or an address.
        reply_to: `MAIL_REPLY_TO` in the same form. Replies go to the sender if it is empty.
        address_line: `MAIL_ADDRESS_LINE`, the sender's postal address in one line, or empty.
    """

    address: str
    reply_to: str | None = None
    address_line: str = ""

    def validated(self) -> Self:
        """Return the sender with trimmed values. The email provider itself validates `address`.

        Raises:
            MisconfiguredError: `reply_to` or `address_line` is invalid.
        """
        reply_to, address_line = (self.reply_to or "").strip(), self.address_line.strip()
        address = name_and_address(reply_to)[1]
        if reply_to and not (_is_line(reply_to) and deliverable(address) == address):
            raise MisconfiguredError("MAIL_REPLY_TO", "an email address, or empty")
        if not _is_line(address_line) or len(address_line) > ADDRESS_LINE_CHARACTERS:
            raise MisconfiguredError(
                "MAIL_ADDRESS_LINE",
                f"one line of at most {ADDRESS_LINE_CHARACTERS} characters, or empty",
            )
        return replace(self, reply_to=reply_to or None, address_line=address_line)


def name_and_address(text: str) -> tuple[str, str]:
    """Return the name, which may be empty, and the address of `Name <address>` or an address.

    Everything before the last `<` is the name, with or without quotes. `parseaddr` would read
    `Photos, Inc. <a@example.com>` as the name "Photos".
    """
    name, bracket, rest = text.strip().rpartition("<")
    if not bracket or not rest.endswith(">"):
        return "", text.strip()
    name = name.strip()
    if len(name) > 1 and name[0] == name[-1] == '"':
        name = re.sub(r"\\(.)", r"\1", name[1:-1])
    return name, rest[:-1].strip()


def _is_line(text: str) -> bool:
    return not any(unicodedata.category(character) in _LINE_BREAKS for character in text)


class Mailer(Protocol):
    """Sends messages, and names the limits of one request. One instance serves all threads."""

    @property
    def key_name(self) -> str:
        """Name of the secret with the API key or password."""

    @property
    def recipients_per_request(self) -> int:
        """Maximum number of copies of one message."""

    def check(self) -> None:
        """Check the settings and secrets that are necessary to send.

        Raises:
            MisconfiguredError: A setting or secret is missing or unusable.
            Exception: The secret could not be read.
        """

    def send(self, message: EmailMessage) -> SendOutcome:
        """Send one request without repeating it, and return its outcome."""


def usable_key(secrets: SecretReader, name: str, form: re.Pattern[str], should_be: str) -> str:
    """Return the newest version of the secret `name`, the key to an email provider.

    Raises:
        MisconfiguredError: The key is missing or does not have the `form`.
        Exception: Secret Manager is unavailable.
    """
    try:
        [key] = secrets.versions(name, at_most=1)
    except MissingSecretError as missing:
        raise MisconfiguredError(name, should_be) from missing
    if not form.fullmatch(key):
        raise MisconfiguredError(name, f"{should_be} without other characters")
    return key
