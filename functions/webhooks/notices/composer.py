"""The mail with the news of an event's webhook URLs, under the console's names for them.

Everything in it that people wrote is one bounded line, escaped, and no link: the event's name, and
the host of a URL, whose path and query may hold keys. The only link leads to the console.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from functions.mail.lines import EVENT_NAME_CHARACTERS, unlinked
from functions.mail.message import NOTICE_LABEL, Copy, EmailMessage
from functions.mail.sender import MailSender
from functions.mail.templates import templates_in
from functions.wall.address import address_hash, normalised
from functions.webhooks.deliveries.endpoint_url import name_of
from functions.webhooks.endpoints.failing_endpoint import Standing

_REASON_CHARACTERS: Final = 200

_PREDICATES: Final = {
    Standing.FAILING: ("is failing", "are failing"),
    Standing.DISABLED: ("is switched off", "are switched off"),
    Standing.RECOVERED: ("works again", "work again"),
}

_templates: Final = templates_in(Path(__file__).parent / "templates")


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """The news of one URL.

    Attributes:
        url: As it is configured.
        standing: The new standing.
        since: When the first of the deliveries ended that have failed in a row.
        waiting: Deliveries since then that did not get through.
        skipped: Deliveries among them that were not tried, while the URL was switched off.
        status: The receiver's last answer to a delivery that failed, or None.
        error: Why there was no answer, or None.
        acknowledged_at: When the receiver acknowledged a delivery again, or None.
    """

    url: str
    standing: Standing
    since: datetime | None
    waiting: int
    skipped: int = 0
    status: int | None = None
    error: str | None = None
    acknowledged_at: datetime | None = None


def compose(
    changes: Sequence[Change],
    *,
    event_id: str,
    event_name: str,
    addresses: Iterable[str],
    sender: MailSender,
    base_url: str,
) -> EmailMessage:
    """One message that tells all `changes`, with a copy for each address, which sees no other."""
    name = unlinked(event_name, EVENT_NAME_CHARACTERS)
    shown = [_shown(change) for change in changes]
    headline = _headline(changes)
    site = base_url.rstrip("/")
    fields = {
        "headline": headline,
        "event_name": name,
        "changes": shown,
        "works": all(change.standing is Standing.RECOVERED for change in changes),
        "waiting": any(change.waiting for change in changes),
        "address_line": sender.address_line,
        "console": f"{site}/console#/events/{quote(event_id, safe='')}/receivers",
    }
    text, html = (
        _templates.get_template(template).render(**fields)
        for template in ("notice.txt", "notice.html")
    )
    return EmailMessage(
        sender=sender.address,
        reply_to=sender.reply_to,
        subject=f"{headline}: {name}" if name else headline,
        text=text,
        html=html,
        copies=[_copy(address) for address in addresses],
    )


def _copy(address: str) -> Copy:
    return Copy(
        address=address,
        headers={"Auto-Submitted": "auto-generated"},  # RFC 3834: no "out of office" comes back
        labels={NOTICE_LABEL: address_hash(normalised(address))},
    )


def _headline(changes: Sequence[Change]) -> str:
    if len(changes) == 1:
        return f"A webhook URL {_PREDICATES[changes[0].standing][0]}"
    counts = Counter(change.standing for change in changes)
    told = [
        f"{count} {_PREDICATES[standing][count > 1]}"
        for standing in Standing
        if (count := counts[standing])
    ]
    return f"Webhook URLs: {', '.join(told)}"


def _shown(change: Change) -> dict[str, Any]:
    """The fields of a URL in the templates."""
    return {
        "name": name_of(change.url).replace(".", "[.]"),  # mail programs make links of hosts
        "standing": change.standing,
        "reason": _reason(change),
        "since": change.since and _time(change.since),
        "acknowledged": change.acknowledged_at and _time(change.acknowledged_at),
        "waiting": change.waiting,
        "skipped": change.skipped,
    }


def _reason(change: Change) -> str:
    """Why the last delivery failed; empty if that is not known."""
    if change.status is not None:
        return f"HTTP {change.status}"
    return unlinked(change.error, _REASON_CHARACTERS) if change.error else ""


def _time(moment: datetime) -> str:
    at = moment.astimezone(UTC)
    return f"{at.day} {at:%B %Y, %H:%M} UTC"
