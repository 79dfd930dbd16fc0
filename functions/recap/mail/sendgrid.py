"""Mail through SendGrid's v3 API.

https://www.twilio.com/docs/sendgrid/api-reference/mail-send/mail-send

There is no idempotency key: a request whose outcome is not certain must never be made again.
"""

import json
import re
import time
from collections.abc import Mapping
from typing import Any, Final
from urllib.error import URLError

from python_http_client.exceptions import HTTPError
from sendgrid import SendGridAPIClient

from functions.recap.mail.outcome import Accepted, BadAddresses, Later, Outcome, Refused, Unknown

REQUEST_SECONDS: Final = 60.0
"""Of silence; a thousand mails take SendGrid a few seconds."""

_ACCEPTED: Final = 202
_TOO_MANY_REQUESTS: Final = 429
_UNAVAILABLE: Final = 503
# A gateway's word: what stands behind it may have done its work.
_GATEWAY: Final = frozenset({408, 502, 504})

_ADDRESS_FIELD: Final = re.compile(r"personalizations\.(\d+)\.to(\.0(\.email)?)?")


class SendGridMailer:
    """Sends requests; one instance serves all threads."""

    def __init__(self, api_key: str, host: str) -> None:
        """`host` is the address of the API, without a path."""
        self._client = SendGridAPIClient(api_key, host=host.rstrip("/"))
        self._client.client.timeout = REQUEST_SECONDS  # there is none otherwise

    def send(self, body: Mapping[str, Any]) -> Outcome:
        """Make one request, once, and say what became of it."""
        try:
            answer = self._client.client.mail.send.post(request_body=body)
        except HTTPError as refused:
            return _refusal(refused.status_code, refused.headers, refused.body)
        except URLError as error:
            # Raised while connecting and sending only: the request did not arrive whole.
            return Later(f"not connected: {type(error.reason).__name__}", None)
        except Exception as error:  # noqa: BLE001 - no answer, or half of one
            return Unknown(type(error).__name__)
        if answer.status_code == _ACCEPTED:
            return Accepted(answer.headers.get("X-Message-Id") or "")
        return Unknown(f"HTTP {answer.status_code}")


def _refusal(status: int, headers: Any, body: bytes) -> Outcome:
    if status in _GATEWAY:
        return Unknown(f"HTTP {status}")
    if status in (_TOO_MANY_REQUESTS, _UNAVAILABLE):
        return Later(f"HTTP {status}", _reset_seconds(headers))
    bad = _bad_addresses(body)
    return BadAddresses(bad) if bad else Refused(f"HTTP {status}")


def _reset_seconds(headers: Any) -> float | None:
    """Seconds from now to the end of the rate limit's period; None where it is not told."""
    try:
        return max(float(headers["X-RateLimit-Reset"]) - time.time(), 0.0)
    except (KeyError, TypeError, ValueError):
        return None


def _bad_addresses(body: bytes) -> frozenset[int]:
    """Indices of the personalizations that are refused for nothing but their address.

    Empty where something else is wrong with the request as well.
    """
    try:
        fields = [str(error.get("field")) for error in json.loads(body)["errors"]]
    except (ValueError, KeyError, TypeError, AttributeError):
        return frozenset()
    found = [_ADDRESS_FIELD.fullmatch(field) for field in fields]
    return frozenset(int(one[1]) for one in found if one) if all(found) else frozenset()
