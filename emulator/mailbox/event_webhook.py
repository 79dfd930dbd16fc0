"""What SendGrid would tell of the mails, signed, as its Event Webhook does; from its documentation.

https://www.twilio.com/docs/sendgrid/for-developers/tracking-events/event

What becomes of a mail follows from its address: `bounced@…`, `blocked@…`, `dropped@…`,
`deferred@…`, `complained@…` and `unsubscribed@…` are what they say, also with more behind the word
(`bounced-2@…`); a mail to any other address is delivered.
"""

import base64
import json
import re
import secrets
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256

from emulator.mailbox.emails import Mail

SIGNATURE = "X-Twilio-Email-Event-Webhook-Signature"
TIMESTAMP = "X-Twilio-Email-Event-Webhook-Timestamp"

# Of one request.
MAX_EVENTS = 1000
# Seconds: what gathers before a request leaves, the longest wait for an answer, and between tries.
GATHERING = 0.2
ANSWER_LIMIT = 30.0
PAUSES = (0.5, 1.0, 2.0, 4.0)
TRIES = 30

_OK = range(200, 300)
_WORD = re.compile(r"(bounced|blocked|dropped|deferred|complained|unsubscribed)(?![a-z])")
_DELIVERED: Mapping[str, str] = {"event": "delivered", "response": "250 OK"}
_STORIES: Mapping[str, Sequence[Mapping[str, str]]] = {
    "bounced": [
        {
            "event": "bounce",
            "type": "bounce",
            "status": "5.1.1",
            "reason": "550 5.1.1 The email account that you tried to reach does not exist.",
            "bounce_classification": "Invalid Address",
        }
    ],
    "blocked": [
        {
            "event": "bounce",
            "type": "blocked",
            "status": "4.7.0",
            "reason": "421 4.7.0 Too many messages from this sender.",
            "bounce_classification": "Frequency or Volume Too High",
        }
    ],
    "dropped": [{"event": "dropped", "reason": "Bounced Address", "status": "5.0.0"}],
    "deferred": [{"event": "deferred", "response": "450 try again later"}, _DELIVERED],
    "complained": [_DELIVERED, {"event": "spamreport"}],
    "unsubscribed": [_DELIVERED, {"event": "unsubscribe"}],
}


def events_of(mail: Mail) -> Iterator[dict[str, Any]]:
    """Return the reports about a mail, in their order."""
    found = _WORD.match(mail.to)
    told = _STORIES[found[1]] if found else [_DELIVERED]
    if told[0]["event"] != "dropped":
        told = [{"event": "processed"}, *told]
    labels = mail.personalization.get("custom_args", {})
    for mapping in told:
        yield {
            **labels,
            **mapping,
            "email": mail.to,
            "timestamp": int(time.time()),
            "smtp-id": f"<{mail.message_id}@example.com>",
            "sg_event_id": secrets.token_urlsafe(16),
            "sg_message_id": f"{mail.message_id}.{mail.number}",
        }


def signed(key: ec.EllipticCurvePrivateKey, body: bytes, at: int) -> dict[str, str]:
    """Return the headers that SendGrid signs a request with.

    Args:
        key: Of the account.
        body: As it is sent.
        at: Seconds since 1970.
    """
    signature = key.sign(str(at).encode() + body, ec.ECDSA(SHA256()))
    return {SIGNATURE: base64.b64encode(signature).decode(), TIMESTAMP: str(at)}


@dataclass(eq=False)
class EventWebhook:
    """Tells one address of mails, again and again until it is answered 2xx.

    `url` is where requests go, `key` what they are signed with.
    """

    url: str
    key: ec.EllipticCurvePrivateKey

    def __post_init__(self) -> None:
        """Tell nothing yet."""
        self._changed = threading.Condition()
        self._waiting: list[dict[str, Any]] = []
        self._under_way = 0
        self._closed = threading.Event()
        self.statuses: list[int] = []
        """What the requests were answered with, oldest first; 0 stands for no answer."""
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def add(self, mails: Sequence[Mail]) -> None:
        """Have some more mails reported."""
        with self._changed:
            self._waiting += [event for mail in mails for event in events_of(mail)]
            self._changed.notify_all()

    def wait_until_told(self, timeout: float) -> None:
        """Wait until everything has been told, and answered 2xx.

        Raises:
            TimeoutError: It has not within `timeout` seconds.
        """
        with self._changed:
            if not self._changed.wait_for(
                lambda: not self._waiting and not self._under_way, timeout
            ):
                raise TimeoutError(f"not told after {timeout} s; answers were {self.statuses}")

    def close(self) -> None:
        """Tell nothing more."""
        self._closed.set()
        with self._changed:
            self._changed.notify_all()
        self._thread.join()

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting or self._closed.is_set())
            if self._closed.wait(GATHERING):
                return
            with self._changed:
                events = self._waiting[:MAX_EVENTS]
                del self._waiting[:MAX_EVENTS]
                self._under_way = len(events)
            self._tell(events)
            with self._changed:
                self._under_way = 0
                self._changed.notify_all()

    def _tell(self, events: Sequence[Mapping[str, Any]]) -> None:
        body = json.dumps(events, separators=(",", ":")).encode() + b"\r\n"
        for number in range(TRIES):
            status = self._post(body)
            self.statuses.append(status)
            if status in _OK or self._closed.wait(PAUSES[min(number, len(PAUSES) - 1)]):
                return

    def _post(self, body: bytes) -> int:
        headers = {"Content-Type": "application/json", "User-Agent": "SendGrid Event API"}
        headers |= signed(self.key, body, int(time.time()))
        request = urllib.request.Request(self.url, body, headers)  # noqa: S310 - of this machine
        try:
            with urllib.request.urlopen(request, timeout=ANSWER_LIMIT) as answer:  # noqa: S310
                return int(answer.status)
        except urllib.error.HTTPError as refused:
            return refused.code
        except OSError:
            return 0
