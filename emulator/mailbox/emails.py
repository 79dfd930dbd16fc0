"""A mail as it would be delivered, and the request that it came in."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any


@dataclass(frozen=True, slots=True)
class Mail:
    """One mail to one recipient, as it would be delivered: substitutions are made.

    Attributes:
        number: Counted from 1.
        at: When it was accepted.
        message_id: The request's `X-Message-Id`.
        to: The recipient's address.
        sender: The sender, with the name.
        subject: The subject.
        text: The plain-text part; empty if the mail has no such part.
        html: The HTML part; empty if the mail has no such part.
        headers: The mail's own headers.
        personalization: What the request says about this recipient.
    """

    number: int
    at: datetime
    message_id: str
    to: str
    sender: str
    subject: str
    text: str
    html: str
    headers: Mapping[str, str]
    personalization: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Request:
    """One request as it arrived, and the status it was answered with; 0 means no answer."""

    at: datetime
    status: int
    recipients: tuple[str, ...]
    body: bytes


def emails_of(
    body: Mapping[str, Any], message_id: str, at: datetime, number: int
) -> Iterator[Mail]:
    """Return a mail for each recipient, counted from `number`."""
    content = {part["type"]: part["value"] for part in body.get("content", [])}
    for personalization in body["personalizations"]:
        tags = personalization.get("substitutions", {})
        sender = personalization.get("from") or body["from"]
        for to in personalization["to"]:
            yield Mail(
                number=number,
                at=at,
                message_id=message_id,
                to=to["email"],
                sender=f"{sender.get('name', '')} <{sender['email']}>".strip(),
                subject=_substituted(personalization.get("subject") or body["subject"], tags),
                text=_substituted(content.get("text/plain", ""), tags),
                html=_substituted(content.get("text/html", ""), tags),
                headers=body.get("headers", {}) | personalization.get("headers", {}),
                personalization=personalization,
            )
            number += 1


def _substituted(text: str, tags: Mapping[str, str]) -> str:
    for tag, value in tags.items():
        text = text.replace(tag, value)
    return text
