"""Mail through SendGrid's v3 API.

https://www.twilio.com/docs/sendgrid/api-reference/mail-send/mail-send

There is no idempotency key: a request of which it is not certain that nothing was taken must never
be made again. Certain are only the answers that the documentation calls an error in the request,
with the body that it describes: they are given before anything is done. An answer of 500 or more
says that the request was valid and something failed later on; one without that body may be a
gateway's, which knows nothing of what stands behind it.
"""

import json
import re
from collections.abc import Callable, Mapping
from datetime import datetime
from email.utils import parseaddr
from socket import gaierror
from ssl import SSLCertVerificationError
from typing import Any, Final
from urllib.error import URLError

from python_http_client.exceptions import HTTPError
from sendgrid import SendGridAPIClient

from functions.mail.message import Copy, Message
from functions.mail.misconfigured import MisconfiguredError
from functions.mail.outcome import Accepted, BadAddresses, Cause, Later, Outcome, Refused, Unknown

REQUEST_SECONDS: Final = 60.0
"""Of silence; a thousand mails take SendGrid a few seconds."""

BYTES_EACH: Final = 9_500
"""Of one recipient's substitutions, counted as JSON; SendGrid takes less than 10,000."""

_ACCEPTED: Final = 202
_TOO_MANY_REQUESTS: Final = 429
_REFUSALS: Final = frozenset({400, 401, 403, 404, 405, 406, 413, _TOO_MANY_REQUESTS, 451})
"""Errors in the request: https://www.twilio.com/docs/sendgrid/api-reference/how-to-use-the-sendgrid-v3-api/errors"""

_NOT_ALLOWED: Final = frozenset({401, 403})
"""The key is none (any more), or has no right to send mail."""

# https://support.sendgrid.com/hc/en-us/articles/18322114821403: a used-up plan is a 401 as well.
_PLAN_USED_UP: Final = ("credits exceeded", "exceeded your messaging limits")
_SENDER_UNKNOWN: Final = "verified sender identity"

_KEY: Final = re.compile(r"[!-~]+")
"""What can stand in a header: with anything else in it, no request would leave at all."""

_UNCONNECTED: Final = (ConnectionRefusedError, gaierror, SSLCertVerificationError)
"""What only happens before the first byte of a request leaves."""

_ADDRESS_FIELD: Final = re.compile(r"personalizations\.(\d+)\.to(\.0(\.email)?)?")


class SendGridMailer:
    """Sends messages; one instance serves all threads."""

    bytes_each = BYTES_EACH

    def __init__(self, api_key: str, host: str, now: Callable[[], datetime]) -> None:
        """`host` is the address of the API, without a path; `now` gives the time, aware.

        Raises:
            MisconfiguredError: `api_key` can be no key.
        """
        if not _KEY.fullmatch(api_key):
            raise MisconfiguredError("SENDGRID_API_KEY", "a key of SendGrid's, and nothing else")
        self._now = now
        self._client = SendGridAPIClient(api_key, host=host.rstrip("/"))
        self._client.client.timeout = REQUEST_SECONDS  # there is none otherwise

    def send(self, message: Message) -> Outcome:
        """Make one request, once, and say what became of it."""
        try:
            answer = self._client.client.mail.send.post(request_body=request_body(message))
        except HTTPError as refused:
            return refusal(refused.status_code, refused.headers, refused.body, now=self._now())
        except URLError as error:
            reason = type(error.reason).__name__
            if isinstance(error.reason, _UNCONNECTED):
                return Later(f"not connected: {reason}", None)
            return Unknown(reason)
        except Exception as error:  # noqa: BLE001 - no answer, or half of one
            return Unknown(type(error).__name__)
        if answer.status_code == _ACCEPTED:
            return Accepted(answer.headers.get("X-Message-Id") or "")
        return Unknown(f"HTTP {answer.status_code}")


def request_body(message: Message) -> dict[str, Any]:
    """The JSON of a request that sends `message`, with a personalization for each copy of it."""
    return {
        "from": _mailbox(message.sender),
        **({"reply_to": _mailbox(message.reply_to)} if message.reply_to else {}),
        "subject": message.subject,
        "content": [
            {"type": "text/plain", "value": message.text},
            {"type": "text/html", "value": message.html},
        ],
        "personalizations": [_personalization(one) for one in message.copies],
        # Links and pictures stay as they are: a guest is not followed around, the link to the
        # preferences is not rewritten, and nothing is appended.
        "tracking_settings": {
            "click_tracking": {"enable": False, "enable_text": False},
            "open_tracking": {"enable": False},
            "subscription_tracking": {"enable": False},
        },
    }


def _mailbox(text: str) -> dict[str, str]:
    name, address = parseaddr(text)
    return {"email": address} | ({"name": name} if name else {})


def _personalization(copy: Copy) -> dict[str, Any]:
    return {
        "to": [{"email": copy.address}],
        "headers": dict(copy.headers),
        "substitutions": dict(copy.values),
    } | ({"custom_args": dict(copy.labels)} if copy.labels else {})


def refusal(status: int, headers: Mapping[str, str], body: bytes, *, now: datetime) -> Outcome:
    """What an answer other than 202 says: see above."""
    errors = _errors(body)
    if status not in _REFUSALS or errors is None:
        return Unknown(f"HTTP {status}")
    cause = _cause(status, errors)
    if status == _TOO_MANY_REQUESTS and cause is not Cause.CREDITS:
        return Later(f"HTTP {status}", _reset_seconds(headers, now))
    bad = _bad_addresses(errors)
    return BadAddresses(bad) if bad else Refused(f"HTTP {status}", cause)


def _cause(status: int, errors: list[Mapping[str, Any]]) -> Cause | None:
    """Who can change that the request was refused; nothing else is kept of what the answer says."""
    said = " ".join(str(error.get("message")) for error in errors).lower()
    if any(words in said for words in _PLAN_USED_UP):
        return Cause.CREDITS
    fields = {str(error.get("field")).partition(".")[0] for error in errors}
    if "from" in fields or _SENDER_UNKNOWN in said:
        return Cause.SENDER
    return Cause.KEY if status in _NOT_ALLOWED else None


def _errors(body: bytes) -> list[Mapping[str, Any]] | None:
    """The errors of SendGrid's own answer; None where it is somebody else's."""
    try:
        errors = json.loads(body)["errors"]
    except (ValueError, KeyError, TypeError):
        return None
    known = isinstance(errors, list) and errors and all(isinstance(one, dict) for one in errors)
    return errors if known else None


def _reset_seconds(headers: Mapping[str, str], now: datetime) -> float | None:
    """Seconds from `now` to the end of the rate limit's period; None where it is not told."""
    try:
        return max(float(headers["X-RateLimit-Reset"]) - now.timestamp(), 0.0)
    except (KeyError, TypeError, ValueError):
        return None


def _bad_addresses(errors: list[Mapping[str, Any]]) -> frozenset[int]:
    """Indices of the personalizations that are refused for nothing but their address.

    Empty where something else is wrong with the request as well.
    """
    found = [_ADDRESS_FIELD.fullmatch(str(error.get("field"))) for error in errors]
    return frozenset(int(one[1]) for one in found if one) if all(found) else frozenset()
