"""Signed delivery reports, sent as SendGrid's Event Webhook documents them.

https://www.twilio.com/docs/sendgrid/for-developers/tracking-events/event

The address of an email determines its reports: `bounced@…`, `blocked@…`, `dropped@…`, `deferred@…`,
`complained@…` and `unsubscribed@…`, also with a suffix (`bounced-2@…`). An email to any other
address is delivered.
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

from emulator.mailbox.emails import Email

SIGNATURE = "X-Twilio-Email-Event-Webhook-Signature"
TIMESTAMP = "X-Twilio-Email-Event-Webhook-Timestamp"

# In one request.
MAX_REPORTS = 1000
# Time in which reports are collected for one request.
BATCH_SECONDS = 0.2
TIMEOUT_SECONDS = 120.0
RETRY_SECONDS = (0.5, 1.0, 2.0, 4.0)
MAX_ATTEMPTS = 30

_OK = range(200, 300)
_WORD = re.compile(r"(bounced|blocked|dropped|deferred|complained|unsubscribed)(?![a-z])")
_DELIVERED: Mapping[str, str] = {"event": "delivered", "response": "250 OK"}
_REPORTS: Mapping[str, Sequence[Mapping[str, str]]] = {
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


def reports_of(email: Email) -> Iterator[dict[str, Any]]:
    """Yield the reports about an email in their order."""
    found = _WORD.match(email.to)
    reports = _REPORTS[found[1]] if found else [_DELIVERED]
    if reports[0]["event"] != "dropped":
        reports = [{"event": "processed"}, *reports]
    labels = email.personalization.get("custom_args", {})
    for report in reports:
        yield {
            **labels,
            **report,
            "email": email.to,
            "timestamp": int(time.time()),
            "smtp-id": f"<{email.message_id}@example.com>",
            "sg_event_id": secrets.token_urlsafe(16),
            "sg_message_id": f"{email.message_id}.{email.number}",
        }


def signature_headers(key: ec.EllipticCurvePrivateKey, body: bytes, at: int) -> dict[str, str]:
    """Return the headers with SendGrid's signature of a request.

    Args:
        key: The account's signing key.
        body: The request's body.
        at: Unix time in seconds.
    """
    signature = key.sign(str(at).encode() + body, ec.ECDSA(SHA256()))
    return {SIGNATURE: base64.b64encode(signature).decode(), TIMESTAMP: str(at)}


@dataclass(eq=False)
class EventWebhook:
    """Sends delivery reports to `url`, signed with `key`, and retries until a 2xx response."""

    url: str
    key: ec.EllipticCurvePrivateKey

    def __post_init__(self) -> None:
        """Start the thread that sends the reports."""
        self._changed = threading.Condition()
        self._waiting: list[dict[str, Any]] = []
        self._in_flight = 0
        self._closed = threading.Event()
        self.statuses: list[int] = []
        """Statuses of the responses, oldest first. 0 means no response."""
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def add(self, emails: Sequence[Email]) -> None:
        """Send the reports about `emails`."""
        with self._changed:
            self._waiting += [report for email in emails for report in reports_of(email)]
            self._changed.notify_all()

    def wait_until_reported(self, timeout: float) -> None:
        """Wait until all reports have been sent.

        Raises:
            TimeoutError: Reports are left after `timeout` seconds.
        """
        with self._changed:
            if not self._changed.wait_for(
                lambda: not self._waiting and not self._in_flight, timeout
            ):
                raise TimeoutError(
                    f"not reported after {timeout} s; statuses so far: {self.statuses}"
                )

    def close(self) -> None:
        """Stop sending."""
        self._closed.set()
        with self._changed:
            self._changed.notify_all()
        self._thread.join()

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting or self._closed.is_set())
            if self._closed.wait(BATCH_SECONDS):
                return
            with self._changed:
                reports = self._waiting[:MAX_REPORTS]
                del self._waiting[:MAX_REPORTS]
                self._in_flight = len(reports)
            self._send(reports)
            with self._changed:
                self._in_flight = 0
                self._changed.notify_all()

    def _send(self, reports: Sequence[Mapping[str, Any]]) -> None:
        body = json.dumps(reports, separators=(",", ":")).encode() + b"\r\n"
        for number in range(MAX_ATTEMPTS):
            status = self._post(body)
            self.statuses.append(status)
            pause = RETRY_SECONDS[min(number, len(RETRY_SECONDS) - 1)]
            if status in _OK or self._closed.wait(pause):
                return

    def _post(self, body: bytes) -> int:
        headers = {"Content-Type": "application/json", "User-Agent": "SendGrid Event API"}
        headers |= signature_headers(self.key, body, int(time.time()))
        request = urllib.request.Request(self.url, body, headers)  # noqa: S310 - of this machine
        try:
            with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as response:  # noqa: S310
                return int(response.status)
        except urllib.error.HTTPError as refused:
            return refused.code
        except OSError:
            return 0
