"""Email through SendGrid's v3 API.

https://www.twilio.com/docs/sendgrid/api-reference/mail-send/mail-send

SendGrid has no idempotency key, so a request that may have been accepted must never be repeated.
A response with the documented body of errors proves that no email was accepted, with any status. A
4xx without that body proves it as well, because SendGrid or a proxy in between refused the request.
Any other response without that body may come from a gateway that does not know what SendGrid did.
https://www.twilio.com/docs/sendgrid/api-reference/how-to-use-the-sendgrid-v3-api/errors
"""

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from http import HTTPStatus
from socket import gaierror
from ssl import SSLCertVerificationError
from typing import Any, ClassVar, Final
from urllib.error import URLError

from functions.mail.message import Copy, EmailMessage, name_and_address, usable_key
from functions.mail.outcome import (
    Accepted,
    BadAddresses,
    Cause,
    Later,
    MisconfiguredError,
    Refused,
    SendOutcome,
    Unknown,
)
from functions.ports import Clock, SecretReader

KEY_NAME: Final = "SENDGRID_API_KEY"
"""The secret with the API key."""

RECIPIENTS_PER_REQUEST: Final = 1000
"""SendGrid's limit on personalizations."""

REQUEST_SECONDS: Final = 60.0
"""Timeout of a response. SendGrid needs a few seconds for a thousand emails."""

_CAUSE_WITHOUT_BODY: Final[Mapping[int, Cause]] = {401: Cause.KEY, 403: Cause.SENDER}
"""The causes that a status shows without SendGrid's body of errors."""

_PLAN_USED_UP: Final = ("credits exceeded", "exceeded your messaging limits")
"""Words of a response, also of a 401: https://support.sendgrid.com/hc/en-us/articles/18322114821403"""

_SENDER_UNKNOWN: Final = "verified sender identity"

_KEY: Final = re.compile(r"[!-~]+")
"""Characters that a header may have. A request with any other character cannot be sent."""

_UNCONNECTED: Final = (ConnectionRefusedError, gaierror, SSLCertVerificationError)
"""Errors that happen only before the first byte of a request is sent."""

_ADDRESS_FIELD: Final = re.compile(r"personalizations\.(\d+)\.to(\.0(\.email)?)?")


@dataclass(frozen=True, slots=True)
class SendGridMailer:
    """Adapter for `message.Mailer`. Each request reads the current key.

    `host` is the API's address without a path.
    """

    key_name: ClassVar = KEY_NAME
    recipients_per_request: ClassVar = RECIPIENTS_PER_REQUEST

    secrets: SecretReader
    host: str
    clock: Clock

    def check(self) -> None:
        """Implement `Mailer.check`."""
        current_key(self.secrets)

    def send(self, message: EmailMessage) -> SendOutcome:
        """Implement `Mailer.send`."""
        from python_http_client.exceptions import HTTPError  # noqa: PLC0415 - a cold start
        from sendgrid import SendGridAPIClient  # noqa: PLC0415

        try:
            key = current_key(self.secrets)
        except MisconfiguredError as error:  # the key was replaced by an unusable one
            return Refused(str(error), Cause.KEY)
        sendgrid = SendGridAPIClient(key, host=self.host.rstrip("/"))
        sendgrid.client.timeout = REQUEST_SECONDS  # the library sets no timeout
        try:
            answer = sendgrid.client.mail.send.post(request_body=request_body(message))
        except HTTPError as refused:
            now = self.clock.now()
            return refusal(refused.status_code, refused.headers, refused.body, now=now)
        except URLError as error:
            reason = type(error.reason).__name__
            is_unsent = isinstance(error.reason, _UNCONNECTED)
            return Later(f"not connected: {reason}", None) if is_unsent else Unknown(reason)
        except Exception as error:  # noqa: BLE001 - no answer, or a broken one
            return Unknown(type(error).__name__)
        if answer.status_code == HTTPStatus.ACCEPTED:
            return Accepted(answer.headers.get("X-Message-Id") or "")
        return Unknown(f"HTTP {answer.status_code}")


def current_key(secrets: SecretReader) -> str:
    """Return the API key. Raises errors as `usable_key`."""
    return usable_key(secrets, KEY_NAME, _KEY, "an API key of SendGrid")


def request_body(message: EmailMessage) -> dict[str, Any]:
    """Return the JSON of a request that sends `message`, with one personalization per copy.

    A single copy is sent without tags, because its values may exceed the limit of substitutions.
    """
    if len(message.copies) == 1:
        message = message.rendered()
    return {
        "from": _mailbox(message.sender),
        **({"reply_to": _mailbox(message.reply_to)} if message.reply_to else {}),
        "subject": message.subject,
        "content": [
            {"type": "text/plain", "value": message.text},
            {"type": "text/html", "value": message.html},
        ],
        "personalizations": [_personalization(copy) for copy in message.copies],
        # No tracking of guests, no rewritten links (the preferences link is signed), no footer.
        "tracking_settings": {
            "click_tracking": {"enable": False, "enable_text": False},
            "open_tracking": {"enable": False},
            "subscription_tracking": {"enable": False},
        },
    }


def _mailbox(text: str) -> dict[str, str]:
    name, address = name_and_address(text)
    return {"email": address} | ({"name": name} if name else {})


def _personalization(copy: Copy) -> dict[str, Any]:
    return {
        "to": [{"email": copy.address}],
        "headers": dict(copy.headers),
        "substitutions": dict(copy.values),
    } | ({"custom_args": dict(copy.labels)} if copy.labels else {})


def refusal(status: int, headers: Mapping[str, str], body: bytes, *, now: datetime) -> SendOutcome:
    """Return the outcome of a response other than 202. The module's docstring gives the rule."""
    errors = _errors(body)
    if errors is None:
        if status == HTTPStatus.TOO_MANY_REQUESTS:
            return Later(f"HTTP {status}", _pause_seconds(headers, now))
        if HTTPStatus.BAD_REQUEST <= status < HTTPStatus.INTERNAL_SERVER_ERROR:
            return Refused(f"HTTP {status}", _CAUSE_WITHOUT_BODY.get(status))
        return Unknown(f"HTTP {status}")
    cause = _cause(status, errors)
    is_busy = status == HTTPStatus.TOO_MANY_REQUESTS or status >= HTTPStatus.INTERNAL_SERVER_ERROR
    if is_busy and cause is not Cause.CREDITS:
        return Later(f"HTTP {status}", _pause_seconds(headers, now))
    bad = _bad_addresses(errors)
    return BadAddresses(bad) if bad else Refused(f"HTTP {status}", cause)


def _cause(status: int, errors: list[Mapping[str, Any]]) -> Cause | None:
    """Return the cause of a refusal, and keep no other word of the response."""
    said = " ".join(str(error.get("message")) for error in errors).lower()
    if any(words in said for words in _PLAN_USED_UP):
        return Cause.CREDITS
    fields = {str(error.get("field")).partition(".")[0] for error in errors}
    if "from" in fields or _SENDER_UNKNOWN in said:
        return Cause.SENDER
    return Cause.KEY if status in _CAUSE_WITHOUT_BODY else None


def _errors(body: bytes) -> list[Mapping[str, Any]] | None:
    """Return the errors in a response, or None if the body is not in SendGrid's form."""
    try:
        errors = json.loads(body)["errors"]
    except (ValueError, KeyError, TypeError):
        return None
    known = isinstance(errors, list) and errors and all(isinstance(error, dict) for error in errors)
    return errors if known else None


def _pause_seconds(headers: Mapping[str, str], now: datetime) -> float | None:
    """Return the seconds to wait before another request, or None if they are not stated."""
    for name, since in (("Retry-After", 0.0), ("X-RateLimit-Reset", now.timestamp())):
        with suppress(TypeError, ValueError):
            return max(0.0, float(headers.get(name, "")) - since)  # 0 for NaN
    return None


def _bad_addresses(errors: list[Mapping[str, Any]]) -> frozenset[int]:
    """Return the indices of rejected addresses. Empty if the request has any other error."""
    matches = [_ADDRESS_FIELD.fullmatch(str(error.get("field"))) for error in errors]
    return frozenset(int(match[1]) for match in matches if match) if all(matches) else frozenset()
