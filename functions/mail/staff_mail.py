"""Emails of the service to an event's staff, in English, with a link into the console."""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from functions.email_address import address_hash, identity
from functions.mail.message import (
    EVENT_NAME_CHARACTERS,
    NOTICE_LABEL,
    Copy,
    EmailMessage,
    MailSender,
)
from functions.mail.text import without_links

if TYPE_CHECKING:
    from jinja2 import Environment


def mail_time(moment: datetime) -> str:
    """Format a time such as `1 May 2026, 18:30 UTC`."""
    at = moment.astimezone(UTC)
    return f"{at.day} {at:%B %Y, %H:%M} UTC"


def staff_mail(
    templates: "Environment",
    template: str,
    headline: str,
    *,
    event_id: str,
    event_name: str,
    place: str,
    base_url: str,
    sender: MailSender,
    addresses: Iterable[str],
    **fields: Any,
) -> EmailMessage:
    """Return the email from `{template}.txt` and `.html`, with a separate copy for each address.

    The subject is `headline` and the event's name, if any. `place` is the last part of the link
    into the console at `base_url`, such as `recap`. `fields` are more values for the templates,
    which require `preheader`.

    Raises:
        MisconfiguredError: As `MailSender.validated`.
    """
    sender, name = sender.validated(), without_links(event_name, EVENT_NAME_CHARACTERS)
    fields |= {
        "language": "en",
        "direction": "ltr",
        "subject": f"{headline}: {name}" if name else headline,
        "headline": headline,
        "event_name": name,
        "link": f"{base_url.rstrip('/')}/console#/events/{quote(event_id, safe='')}/{place}",
        "address_line": sender.address_line,
    }
    text, html = (
        templates.get_template(f"{template}.{form}").render(fields) for form in ("txt", "html")
    )
    return EmailMessage(
        sender=sender.address,
        reply_to=sender.reply_to,
        subject=fields["subject"],
        text=text,
        html=html,
        copies=[
            Copy(
                address=address,
                headers={"Auto-Submitted": "auto-generated"},  # RFC 3834: no "out of office"
                labels={NOTICE_LABEL: address_hash(identity(address))},
            )
            for address in addresses
        ],
    )
