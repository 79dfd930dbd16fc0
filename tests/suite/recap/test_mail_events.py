"""What became of mails, told by a mail service over HTTP to the deployed function (spec 4.10)."""

import json
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final

import pytest

from bench.costs import COSTS
from emulator import certificates
from emulator.mailbox import PORT, EventWebhook, Mailbox, signed
from functions.mail.mail_status import DeliveryStatus, TrackingEvent
from functions.process import CLOCK
from functions.recap.feedback import MailLabels
from functions.recap.ledger.batch import RecapKey, plan
from functions.wall.address import address_hash
from tests.suite.call import Answer, url
from tests.suite.operations import Operations, counting_service
from tests.suite.process import FunctionProcess
from tests.suite.recap.wall import Wall

TOLD_WITHIN: Final = 60.0
PER_BATCH: Final = 100
SPAM: Final = DeliveryStatus.COMPLAINED | DeliveryStatus.UNWELCOME

NAMES: Final = (
    *("ann", "deferred", "unsubscribed", "complained"),  # delivered
    *("blocked", "bounced", "bounced-2"),
    "dropped",
)
"""What comes of a mail to an address that begins so."""


@pytest.fixture
def events() -> EventWebhook:
    """What a mailbox tells with."""
    return EventWebhook(url("mailEvents"), certificates.mailbox_key())


@pytest.fixture
def mailbox(events: EventWebhook) -> Iterator[Mailbox]:
    """One that tells what becomes of its mails."""
    with Mailbox(port=PORT, events=events) as running:
        yield running


def test_the_whole_loop(
    wall: Wall, mailbox: Mailbox, events: EventWebhook, recap: Callable[..., Answer]
) -> None:
    """A recap is counted as the mails arrive; the next one goes to whom it should."""
    wall.photos(*({"uploaderEmail": _address(wall, name)} for name in NAMES))
    assert recap().result == {"sent": len(NAMES), "skipped": 0}
    events.wait_until_told(TOLD_WITHIN)
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
    again = {mail.to for mail in mailbox.mails[len(NAMES) :]}
    assert again == {_address(wall, name) for name in ("ann", "blocked", "deferred")}
    assert set(events.statuses) == {200}
    labels = [mail.personalization["custom_args"] for mail in mailbox.mails]
    assert "@" not in json.dumps(labels)


def test_a_running_function_takes_what_the_key_has_signed(
    wall: Wall, recap: Callable[..., Answer], mailbox: Mailbox
) -> None:
    """Over a real socket: a forged request, a compressed one, a long one, and then a good one."""
    wall.photos({"uploaderEmail": _address(wall, "ann")})
    recap()
    [mail] = mailbox.mails
    told = {**mail.personalization["custom_args"], "event": "spamreport", "email": mail.to}
    body = json.dumps([told]).encode()
    key, at = certificates.mailbox_key(), int(time.time())
    good = signed(key, body, at)
    with FunctionProcess("mailEvents") as served:
        assert served.post(body, {}) == 403
        assert served.post(body + b" ", good) == 403
        assert served.post(body, good | {"Content-Encoding": "gzip"}) == 200
        assert served.post(b"x" * 1_000_001, good) == 413
        assert served.post(b"{" * 500_000, signed(key, b"{" * 500_000, at)) == 200
        assert served.post(body, good) == 200
        printed = served.printed()
    assert '"told": 1, "new": 1' in printed
    assert '"told": 1, "new": 0' in printed
    [record] = wall.recaps()
    assert record["complained"] == 1


def test_what_news_costs(wall: Wall) -> None:
    """Two writes a request, however many mails it tells of; nothing that is known is written."""
    key = _recap_of(wall, 500)
    news = _told(wall, key, range(500))
    assert _counted(news) == COSTS["news of 500 of its mails, one request"]
    assert _counted(news) == COSTS["the same told again"]
    [complaint] = _told(wall, key, [1], SPAM)
    assert _counted([complaint]) == COSTS["news of one mail, a complaint"]
    [record] = wall.recaps()
    assert (record["delivered"], record["complained"]) == (500, 1)


def _address(wall: Wall, name: str) -> str:
    """An address of this test alone: a bounce holds for a year."""
    return f"{name}@{wall.id}.example.com"


def _guests(wall: Wall, numbers: Iterable[int]) -> list[str]:
    return [address_hash(_address(wall, f"guest-{number}")) for number in numbers]


def _fields(tenant: str) -> dict[str, Any]:
    counts = dict.fromkeys(("sent", "delivered", "bounced", "dropped", "complained"), 0)
    return {"tenantId": tenant, "startedAt": CLOCK.now(), **counts}


def _recap_of(wall: Wall, guests: int) -> RecapKey:
    """A recap that went to so many guests, without the mails."""
    key = RecapKey(wall.id, uuid.uuid4().hex)
    recap = wall.event.collection("recaps").document(key.recap_id)
    batches = [
        (
            recap.collection("batches").document(str(batch.number)),
            {"state": "accepted", "recipients": list(batch.recipients)},
        )
        for batch in plan([_guests(wall, range(guests))], per_batch=PER_BATCH)
    ]
    wall.write([(recap, _fields(wall.id)), *batches])
    return key


def _told(
    wall: Wall,
    key: RecapKey,
    numbers: Sequence[int],
    status: DeliveryStatus = DeliveryStatus.DELIVERED,
) -> list[TrackingEvent]:
    return [
        TrackingEvent(
            status,
            MailLabels(
                event_id=key.event_id,
                recap_id=key.recap_id,
                batch=number // PER_BATCH,
                guest_id=address_hash(guest),
            ).as_texts(),
            guest,
        )
        for number, guest in ((n, _address(wall, f"guest-{n}")) for n in numbers)
    ]


def _counted(news: list[TrackingEvent]) -> Any:
    counted = Operations()
    counting_service(counted).mail_events.record(news)
    return counted.cost()
