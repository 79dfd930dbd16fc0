"""Delivery reports of an email provider, sent to the deployed function (spec 4.10)."""

import json
import uuid
from collections.abc import Callable, Iterator
from typing import Any, Final

import pytest

from bench.costs import COSTS
from emulator import certificates
from emulator.mailbox import PORT, EventWebhook, Mailbox
from functions.email_address import address_hash
from functions.mail.mail_status import DeliveryReport, DeliveryStatus
from functions.process import CLOCK
from functions.recap.delivery_status import MailLabels
from functions.recap.ledger.batch import RecapKey, plan
from tests.suite.call import Answer, url
from tests.suite.operations import Operations, counting_service
from tests.suite.wall_client import Wall

REPORTED_WITHIN: Final = 180.0
PER_BATCH: Final = 100
SPAM: Final = DeliveryStatus.COMPLAINED | DeliveryStatus.UNWELCOME

NAMES: Final = (
    *("ann", "deferred", "unsubscribed", "complained"),  # delivered
    *("blocked", "bounced", "bounced-2"),
    "dropped",
)
"""Report of an email to an address with this prefix."""


@pytest.fixture
def events() -> EventWebhook:
    """Return the mailbox's sender of delivery reports."""
    return EventWebhook(url("mailEvents"), certificates.mailbox_key())


@pytest.fixture
def mailbox(events: EventWebhook) -> Iterator[Mailbox]:
    """Run a mailbox that sends delivery reports."""
    with Mailbox(port=PORT, events=events) as running:
        yield running


def test_delivery_reports_reach_the_recap_and_the_preferences(
    wall: Wall, mailbox: Mailbox, events: EventWebhook, recap: Callable[..., Answer]
) -> None:
    """A recap is counted as its emails arrive. The next recap skips complaints and bounces."""
    wall.photos(*({"uploaderEmail": _address(wall, name)} for name in NAMES))
    assert recap().result == {"sent": len(NAMES), "skipped": 0}
    events.wait_until_reported(REPORTED_WITHIN)
    [first] = wall.recaps()
    assert {name: first[name] for name in ("delivered", "bounced", "dropped", "complained")} == {
        "delivered": 4,
        "bounced": 3,
        "dropped": 1,
        "complained": 1,
    }
    wall.end_cooldown()
    second = recap().result
    assert (second["sent"], second["skipped"], second["skippedBy"]) == (3, 2, {"bounced": 3})
    again = {mail.to for mail in mailbox.emails[len(NAMES) :]}
    assert again == {_address(wall, name) for name in ("ann", "blocked", "deferred")}
    assert set(events.statuses) == {200}
    labels = [mail.personalization["custom_args"] for mail in mailbox.emails]
    assert "@" not in json.dumps(labels)


def test_the_cost_of_delivery_reports(wall: Wall) -> None:
    """A request writes two documents for any number of emails. Known reports write none."""
    guests = [_address(wall, f"guest-{number}") for number in range(500)]
    key = RecapKey(wall.id, uuid.uuid4().hex)
    recap = wall.event.collection("recaps").document(key.recap_id)
    counts = dict.fromkeys(("sent", "delivered", "bounced", "dropped", "complained"), 0)
    batches = plan([list(map(address_hash, guests))], per_batch=PER_BATCH)
    of_batch = [recap.collection("batches").document(str(batch.number)) for batch in batches]
    accepted = [{"state": "accepted", "recipients": list(batch.recipients)} for batch in batches]
    head = {"tenantId": wall.id, "startedAt": CLOCK.now(), **counts}
    wall.write([(recap, head), *zip(of_batch, accepted, strict=True)])
    reports = []
    for number, guest in enumerate(guests):
        labels = MailLabels(key, number // PER_BATCH, address_hash(guest))
        reports.append(DeliveryReport(DeliveryStatus.DELIVERED, labels.as_texts(), guest))
    assert _cost(reports) == COSTS["reports of 500 emails in one request"]
    assert _cost(reports) == COSTS["the same reports again"]
    complaint = DeliveryReport(SPAM, reports[1].labels, reports[1].address)
    assert _cost([complaint]) == COSTS["a report of a spam complaint"]
    [record] = wall.recaps()
    assert (record["delivered"], record["complained"]) == (500, 1)


def _address(wall: Wall, name: str) -> str:
    """Return an address that only this test uses, because a bounce lasts for a year."""
    return f"{name}@{wall.id}.example.com"


def _cost(reports: list[DeliveryReport]) -> Any:
    counted = Operations()
    counting_service(counted).delivery_report_recorder.record(reports)
    return counted.cost()
