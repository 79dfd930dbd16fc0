"""An email as it would be delivered, and the request that contained it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any


@dataclass(frozen=True, slots=True)
class Email:
    """One email to one recipient, with all substitutions.

    Attributes:
        number: Counted from 1.
        at: Time of acceptance.
        message_id: The request's `X-Message-Id`.
        to: The recipient's address.
        sender: The sender, with the name.
        subject: The subject.
        text: The plain-text part. Empty if the email has no such part.
        html: The HTML part. Empty if the email has no such part.
        headers: The email's own headers.
        personalization: The request's entry for this recipient.
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
    """One request as it arrived, and the status of its response. 0 means no response."""

    at: datetime
    status: int
    recipients: tuple[str, ...]
    body: bytes


def emails_of(
    body: Mapping[str, Any], message_id: str, at: datetime, number: int
) -> Iterator[Email]:
    """Yield an email for each recipient, numbered from `number`."""
    content = {part["type"]: part["value"] for part in body.get("content", [])}
    for personalization in body["personalizations"]:
        tags = personalization.get("substitutions", {})
        sender = personalization.get("from") or body["from"]
        for to in personalization["to"]:
            yield Email(
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
