"""What news of 2,000 mails in one request takes of the CPU, beside the same request told again.

The deployed function on its runtime, with the Firestore emulator; CPU is user and system time of
the function's processes. The recap has 5,000 guests, and SendGrid signs with the mailbox's key.
"""

import json
import os
import statistics
import time
import uuid
from typing import Any, Final

from google.cloud import firestore

from bench.turns import tree_cpu
from emulator import certificates
from emulator.mailbox import signed
from functions.recap.labels import MailLabels
from functions.recap.ledger import plan
from functions.wall.address import address_hash, guest_uid
from tests.suite.process import FunctionProcess
from tests.suite.recap.wall import Wall

GUESTS: Final = 5000
EVENTS: Final = 2000
TURNS: Final = 5
AIM_SECONDS: Final = 1.0


def main() -> None:
    """Tell of as many recaps, and print the medians."""
    first, again = [], []
    with FunctionProcess("mailEvents") as function:
        _tell(function, _news(_recap()))  # it is warm
        for _ in range(TURNS):
            body = _news(_recap())
            first.append(_tell(function, body))
            again.append(_tell(function, body))
    print(f"   {EVENTS:,} events, {len(body) / 1000:,.0f} KB: CPU, aim {AIM_SECONDS} s")
    print(f"   new     {statistics.median(first):.3f} s")
    print(f"   again   {statistics.median(again):.3f} s")


def _recap() -> tuple[str, str]:
    """Event and id of a recap that went to everybody, without the mails."""
    db = firestore.Client(project=os.environ["GCLOUD_PROJECT"])
    wall = Wall(db, db.collection("events").document(f"event-{uuid.uuid4().hex[:12]}"))
    recap = wall.event.collection("recaps").document(uuid.uuid4().hex)
    batches = plan([_guest(number) for number in range(GUESTS)], per_batch=1000)
    wall.write(
        [
            (recap, {"delivered": 0, "bounced": 0, "dropped": 0, "complained": 0}),
            *(
                (
                    recap.collection("batches").document(str(batch.number)),
                    {"state": "accepted", "recipients": list(batch.recipients)},
                )
                for batch in batches
            ),
        ]
    )
    return wall.id, recap.id


def _guest(number: int) -> str:
    return address_hash(f"guest-{number}@example.com")


def _news(recap: tuple[str, str]) -> bytes:
    """As SendGrid tells it, of mails of all batches."""
    return json.dumps([_event(recap, number) for number in _spread()]).encode()


def _spread() -> list[int]:
    """Numbers of guests, of all batches."""
    return [place * GUESTS // EVENTS for place in range(EVENTS)]


def _event(recap: tuple[str, str], number: int) -> dict[str, Any]:
    event_id, recap_id = recap
    guest_id = _guest(number)
    labels = MailLabels(
        event_id=event_id,
        recap_id=recap_id,
        batch=number // 1000,
        guest_id=guest_id,
        uid=guest_uid(guest_id),
    )
    return labels.as_texts() | {
        "email": f"guest-{number}@example.com",
        "event": "delivered",
        "response": "250 OK",
        "sg_event_id": uuid.uuid4().hex[:22],
        "sg_message_id": uuid.uuid4().hex * 2,
        "smtp-id": "<14c5d75ce93.dfd.64b469@ismtpd-555>",
        "timestamp": int(time.time()),
    }


def _tell(function: FunctionProcess, body: bytes) -> float:
    """Seconds of CPU that a request took."""
    before = tree_cpu(function.pid)
    status = function.post(body, signed(certificates.mailbox_key(), body, int(time.time())))
    if status != 200:
        raise RuntimeError(status)
    return tree_cpu(function.pid) - before
