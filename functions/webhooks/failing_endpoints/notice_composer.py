"""The mail with the news of an event's webhook URLs, under the organizers' names for them.

Everything in it that people wrote is one bounded line, escaped, and no link: the event's name, and
the label and the host of a URL, whose path and query may hold keys. The only link leads to the
console.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from functions.mail.message import EmailMessage, MailSender, unlinked
from functions.mail.staff_mail import mail_time, staff_mail
from functions.mail.texts import templates_in
from functions.webhooks.deliveries.delivery import Attempt
from functions.webhooks.deliveries.endpoint_url import name_of
from functions.webhooks.failing_endpoints.failing_endpoint import Standing

_REASON_CHARACTERS: Final = 200
_LABEL_CHARACTERS: Final = 40

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
        url: The URL as it is configured.
        label: What organizers call it; may be empty.
        standing: The new standing.
        since: When the first of the deliveries ended that have failed in a row.
        waiting: Deliveries since then that did not get through.
        skipped: Deliveries among them that were not tried, while the URL was switched off.
        failed: The last attempt of the delivery that failed last, or None.
        acknowledged_at: When the receiver acknowledged a delivery again, or None.
    """

    url: str
    standing: Standing
    since: datetime | None
    waiting: int
    skipped: int = 0
    failed: Attempt | None = None
    acknowledged_at: datetime | None = None
    label: str = ""


def compose(
    changes: Sequence[Change],
    *,
    event_id: str,
    event_name: str,
    addresses: Iterable[str],
    sender: MailSender,
    base_url: str,
) -> EmailMessage:
    """One message about all `changes`; see `staff_mail`."""
    works = all(change.standing is Standing.RECOVERED for change in changes)
    return staff_mail(
        _templates,
        "notice",
        _headline(changes),
        event_id=event_id,
        event_name=event_name,
        place="receivers",
        base_url=base_url,
        sender=sender,
        addresses=addresses,
        works=works,
        changes=[_shown(change) for change in changes],
        what_to_do=_what_to_do(changes, works=works),
    )


def _headline(changes: Sequence[Change]) -> str:
    if len(changes) == 1:
        return f"A webhook URL {_PREDICATES[changes[0].standing][0]}"
    counts = Counter(change.standing for change in changes)
    phrases = [
        f"{count} {_PREDICATES[standing][count > 1]}"
        for standing in Standing
        if (count := counts[standing])
    ]
    return f"Webhook URLs: {', '.join(phrases)}"


def _shown(change: Change) -> dict[str, Any]:
    """The fields of a URL in the templates: its name, and what has become of it, in lines."""
    text = _templates.get_template("change.txt").render(
        standing=change.standing,
        since=change.since and mail_time(change.since),
        acknowledged=change.acknowledged_at and mail_time(change.acknowledged_at),
        reason=_reason(change.failed),
        waiting=change.waiting,
        skipped=change.skipped,
    )
    name = name_of(change.url).replace(".", "[.]")  # mail programs make links of hosts
    label = unlinked(change.label, _LABEL_CHARACTERS)
    return {
        "name": f"{label} ({name})" if label else name,
        "standing": change.standing,
        "lines": text.splitlines(),
    }


def _reason(failed: Attempt | None) -> str:
    """Why the last delivery failed; empty if that is not known."""
    if failed and failed.status is not None:
        return f"HTTP {failed.status}"
    return unlinked(failed.error, _REASON_CHARACTERS) if failed and failed.error else ""


def _what_to_do(changes: Sequence[Change], *, works: bool) -> str:
    if works and not any(change.waiting for change in changes):
        return "There is nothing to do."
    if works:
        return "Send again what has not arrived, in the console."
    advice = "Mend the receiver, try it with a test, then send again what has not arrived."
    if any(change.standing is Standing.DISABLED for change in changes):
        advice += " An admin switches a URL on again."
    return f"{advice} All of that is in the console."
