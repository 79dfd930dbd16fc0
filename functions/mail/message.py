"""A message to many recipients in the terms of any mail provider, and the outcome of its request.

Accepted       the provider has the mails
BadAddresses   the provider has none of the mails, because of these recipients
Later          the provider has none of the mails, and may take them in a while
Refused        the provider has none of the mails, and will not take them
Unknown        the provider may have the mails: the request must never be repeated
"""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from email.utils import parseaddr
from enum import StrEnum
from typing import ClassVar, Final, Protocol, Self, TypeAlias

from functions.wall.address import deliverable

EVENT_NAME_CHARACTERS: Final = 150

_BREAKS: Final = re.compile(r"[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029]")
"""Characters that some program takes for the end of a line, and all other controls."""

_LINE_END: Final = re.compile(r"\r\n|[\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_CONTROLS: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")

_OVERRIDES: Final = re.compile(r"[\u202d\u202e]")
"""Reverse the text after them; text in right-to-left scripts does not need them."""

_DOTS: Final = re.compile(r"[\u3002\uff61\u2024\u0589\u06d4\u0701\u0702]")
"""Characters that some program takes for a dot, beside those that NFKC turns into dots."""

_IN_A_LINK: Final = re.compile(r"(?<=\w)\.+(?=\w)|[/@:\\]+(?=\S)")
_SPACES: Final = re.compile(r"\s+")


def one_line(text: str) -> str:
    """`text` without line breaks, controls, and spaces at its ends (spec 4.1)."""
    return _SPACES.sub(" ", _OVERRIDES.sub("", _BREAKS.sub("", _encodable(text)))).strip()


def paragraph(text: str) -> str:
    r"""`text` with `\n` as its only line break and without other controls."""
    lines = _LINE_END.sub("\n", _encodable(text)).replace("\t", " ")
    return _OVERRIDES.sub("", _CONTROLS.sub("", lines)).strip()


def shortened(text: str, at_most: int) -> str:
    """`text` as one line of `at_most` characters, cut at a space where one is near the end."""
    line = one_line(text)
    if len(line) <= at_most:
        return line
    kept = line[: at_most - 1]
    words, space, _ = line[:at_most].rpartition(" ")
    return (words if space and len(words) > at_most // 2 else kept).rstrip() + "…"


def unlinked(text: str, at_most: int) -> str:
    """`shortened`, with spaces in place of characters that make links: dots, slashes, colons, `@`.

    A dot at the end of a word makes no link, and stays.
    """
    return shortened(_IN_A_LINK.sub(" ", plain(_encodable(text))), at_most)


def plain(text: str) -> str:
    """`text` with one form for all variants of dots, digits and letters."""
    return _DOTS.sub(".", unicodedata.normalize("NFKC", text))


def _encodable(text: str) -> str:
    # JSON may contain half of a surrogate pair; a mail cannot.
    return text.encode("utf-8", "replace").decode()


NOTICE_LABEL: Final = "wall_notice"
"""Label of a mail to staff of an event; its value is the hash of the address."""


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


class MisconfiguredError(Exception):
    """A parameter or secret is missing or unusable.

    `setting` is its name. The text says what the setting should be, never its value.
    """

    def __init__(self, setting: str, should_be: str) -> None:
        super().__init__(f"{setting} should be {should_be}")
        self.setting = setting


ADDRESS_LINE_CHARACTERS: Final = 200
_LINE_BREAKS: Final = frozenset({"Cc", "Zl", "Zp"})


@dataclass(frozen=True, slots=True, kw_only=True)
class MailSender:
    """The sender as the mail service and the reader see it.

    Attributes:
        address: `Name <address>` or an address; `MAIL_FROM`.
        reply_to: In the same form; None or empty where replies go to the sender; `MAIL_REPLY_TO`.
        address_line: The sender's postal address, one line, may be empty; `MAIL_ADDRESS_LINE`.
    """

    address: str
    reply_to: str | None = None
    address_line: str = ""

    def checked(self) -> Self:
        """The sender with trimmed values; the mail service itself checks `address`.

        Raises:
            MisconfiguredError: `reply_to` or `address_line` cannot be used.
        """
        reply_to, address_line = (self.reply_to or "").strip(), self.address_line.strip()
        if reply_to and not _is_mailbox(reply_to):
            raise MisconfiguredError("MAIL_REPLY_TO", "an e-mail address, or empty")
        if not _is_line(address_line) or len(address_line) > ADDRESS_LINE_CHARACTERS:
            raise MisconfiguredError(
                "MAIL_ADDRESS_LINE",
                f"one line of at most {ADDRESS_LINE_CHARACTERS} characters, or empty",
            )
        return replace(self, reply_to=reply_to or None, address_line=address_line)


def _is_line(text: str) -> bool:
    return not any(unicodedata.category(character) in _LINE_BREAKS for character in text)


def _is_mailbox(text: str) -> bool:
    """Whether `text` is an address, or a name and an address."""
    name, address = parseaddr(text)
    # `parseaddr` silently drops the parts of a text that it does not understand.
    whole = text == address or (name and text.endswith(f"<{address}>"))
    return bool(whole) and _is_line(text) and deliverable(address) is not None


def who_can_fix(error: Exception) -> tuple[str | None, str]:
    """The setting that `error` is about, if any, and who can fix it, for an organizer."""
    if isinstance(error, MisconfiguredError):
        return error.setting, f"The operator of the service has to correct a setting: {error}."
    return None, "Try again."


class Cause(StrEnum):
    """Why the mail provider refuses mails, where it is known who can fix it.

    KEY       the operator: another API key, or the right to send for this key
    SENDER    the operator: verify the sender's address
    CREDITS   the operator: enlarge the plan, which is used up
    BUSY      nobody: the provider is busy or out of reach
    """

    KEY = "key"
    SENDER = "sender"
    CREDITS = "credits"
    BUSY = "busy"

    def who_can_fix(self, key_name: str) -> str:
        """Sentences that tell an organizer who can fix it; `key_name` names the key's secret."""
        return _WHO_CAN_FIX[self].format(key_name=key_name)


_WHO_CAN_FIX = {
    Cause.KEY: (
        "The mail service does not accept this service's key. The operator has to set {key_name} "
        "to a key with the right to send mail; try again after that."
    ),
    Cause.SENDER: (
        "The mail service does not know the sender. The operator has to verify the address in "
        "MAIL_FROM at the mail service; try again after that."
    ),
    Cause.CREDITS: (
        "The plan at the mail service is used up. The operator has to enlarge the plan, or wait "
        "until it is renewed; try again after that."
    ),
    Cause.BUSY: "The mail service is busy or out of reach; try again in a few minutes.",
}


@dataclass(frozen=True, slots=True)
class Accepted:
    """The provider has the mails; they are not yet delivered."""

    message_id: str


@dataclass(frozen=True, slots=True)
class BadAddresses:
    """The whole request is refused for the addresses of the recipients with these indices."""

    indices: frozenset[int]


@dataclass(frozen=True, slots=True)
class Later:
    """The provider is busy or in trouble, and may name a pause of `seconds`."""

    reason: str
    seconds: float | None
    cause: ClassVar = Cause.BUSY


@dataclass(frozen=True, slots=True)
class Refused:
    """The request is refused; `cause` where it is known who can fix it."""

    reason: str
    cause: Cause | None = None


@dataclass(frozen=True, slots=True)
class Unknown:
    """There was no answer, or an answer that does not say."""

    reason: str
    cause: ClassVar[Cause | None] = None


SendOutcome: TypeAlias = Accepted | BadAddresses | Later | Refused | Unknown


class Mailer(Protocol):
    """Sends messages, with the limits that matter to a mail for thousands.

    One instance serves all threads.
    """

    @property
    def key_name(self) -> str:
        """Name of the secret with the API key."""

    @property
    def recipients_per_request(self) -> int:
        """How many copies one message may have."""

    @property
    def bytes_per_recipient(self) -> int:
        """How many bytes may differ for each of several recipients, counted as JSON."""

    def check(self) -> None:
        """Check that requests can be made.

        Raises:
            MisconfiguredError: the API key is missing or unusable.
            Exception: the API key could not be read.
        """

    def send(self, message: EmailMessage) -> SendOutcome:
        """Make one request, never repeated, and return its outcome."""
