"""SendGrid's validation and responses, as its documentation defines them.

A request is accepted, rejected, or its result is unknown, for example without a response.

https://www.twilio.com/docs/sendgrid/api-reference/mail-send/mail-send
https://www.twilio.com/docs/sendgrid/api-reference/mail-send/errors
"""

import contextlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, Final

# SendGrid's limits: recipients of a request, bytes of a personalization, bytes of a request.
MAX_PERSONALIZATIONS = 1000
MAX_SUBSTITUTION_BYTES = 10_000
MAX_CUSTOM_ARGS_BYTES = 10_000
MAX_REQUEST_BYTES = 30_000_000

_ADDRESS = re.compile(
    r"[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@"
    r"(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+[A-Za-z][A-Za-z0-9-]{0,61}[A-Za-z0-9]"
)
_CONTENT = (["text/plain"], ["text/html"], ["text/plain", "text/html"])
_RESERVED_HEADERS = frozenset(
    {
        *("x-sg-id", "x-sg-eid", "received", "dkim-signature", "content-type"),
        *("content-transfer-encoding", "to", "from", "subject", "reply-to", "cc", "bcc"),
    }
)
_HELP = "https://www.twilio.com/docs/sendgrid/api-reference/mail-send/errors"


@dataclass(frozen=True, slots=True)
class Problem:
    """An entry of SendGrid's error body. `field` is a path in the request."""

    message: str
    field: str | None


@dataclass(frozen=True, slots=True)
class Answer:
    """The response of SendGrid, or of a proxy before it, to a request to send.

    Attributes:
        status: The HTTP status, or 0 without a response.
        headers: SendGrid's own headers.
        body: The complete body.
    """

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""

    @property
    def is_unknown(self) -> bool:
        """Whether it is unknown if the emails were accepted."""
        return self.status != HTTPStatus.ACCEPTED and not self.body


NO_ANSWER: Final = Answer(0)
"""The connection ended without a response."""


def accepted(message_id: str) -> Answer:
    """Return the response to an accepted request."""
    return Answer(HTTPStatus.ACCEPTED, {"X-Message-Id": message_id})


def refused(status: int, *found: Problem, resets_at: int | None = None) -> Answer:
    """Return an error response in SendGrid's format. No email of the request is accepted.

    Args:
        status: The HTTP status.
        found: The problems. By default, the status's phrase.
        resets_at: For status 429, the Unix time at which the rate limit resets.
    """
    limit = {"X-RateLimit-Limit": "600", "X-RateLimit-Remaining": "0"}
    headers = limit | {"X-RateLimit-Reset": str(resets_at)} if resets_at is not None else {}
    entries = [
        {
            "message": problem.message,
            "field": problem.field,
            "help": _HELP if problem.field else None,
        }
        for problem in found or [Problem(HTTPStatus(status).phrase.lower(), None)]
    ]
    return Answer(status, headers, json.dumps({"errors": entries}).encode())


def recipients_of(body: object) -> Iterator[str]:
    """Yield the addresses in a request's body until a malformed part."""
    with contextlib.suppress(TypeError, KeyError, AttributeError):
        for personalization in body["personalizations"]:  # type: ignore[index]
            for to in personalization["to"]:
                yield str(to["email"])


def problems(body: object, bad: Sequence[str] = ()) -> list[Problem]:
    """Return the problems that SendGrid would report, except those of the API's description.

    The description defines the fields and their types.
    `tests/unit/mail/test_sendgrid_description.py` compares requests with it.

    Args:
        body: The parsed JSON.
        bad: Valid addresses that are rejected.
    """
    try:
        return list(_problems(body, bad))
    except (TypeError, KeyError, AttributeError):
        return [Problem("Bad Request", None)]


def _problems(body: Any, bad: Sequence[str]) -> Iterator[Problem]:
    for name in {"from", "reply_to"} & {"from", *body}:
        if not _is_address(body[name]["email"]):
            yield Problem(f"The {name} email does not contain a valid address.", f"{name}.email")
    if "\n" in body["subject"] or "\r" in body["subject"]:
        yield Problem("The subject must not contain line breaks.", "subject")
    if [part["type"] for part in body["content"]] not in _CONTENT:
        message = "If present, text/plain must be first, followed by text/html."
        yield Problem(message, "content")
    if sum(1 for _ in recipients_of(body)) > MAX_PERSONALIZATIONS:
        message = f"There is a limit of {MAX_PERSONALIZATIONS} total recipients per request."
        yield Problem(message, "personalizations")
    seen: set[str] = set()
    for number, personalization in enumerate(body["personalizations"]):
        place = f"personalizations.{number}"
        yield from _recipient_problems(personalization["to"], place, seen, bad)
        yield from _size_problems(personalization, place)
        yield from _header_problems(personalization.get("headers", {}), f"{place}.headers")


def _recipient_problems(
    recipients: Sequence[Mapping[str, Any]], place: str, seen: set[str], bad: Sequence[str]
) -> Iterator[Problem]:
    for number, to in enumerate(recipients):
        address = to["email"]
        if not _is_address(address) or address in bad:
            yield Problem("Does not contain a valid address.", f"{place}.to.{number}.email")
        elif address.lower() in seen:
            message = "Each unique email address in the personalizations array should only be "
            message += f"included once. You have included [{address}] more than once."
            yield Problem(message, "personalizations")
        seen.add(str(address).lower())


def _size_problems(personalization: Mapping[str, Any], place: str) -> Iterator[Problem]:
    substitutions = personalization.get("substitutions", {})
    size = sum(len(f"{tag}{value}".encode()) for tag, value in substitutions.items())
    if size > MAX_SUBSTITUTION_BYTES:
        message = f"The substitutions are limited to {MAX_SUBSTITUTION_BYTES} bytes, not {size}."
        yield Problem(message, f"{place}.substitutions")
    if len(json.dumps(personalization.get("custom_args", {}))) >= MAX_CUSTOM_ARGS_BYTES:
        message = "The custom arguments may have less than 10,000 bytes."
        yield Problem(message, f"{place}.custom_args")


def _header_problems(headers: Mapping[str, str], place: str) -> Iterator[Problem]:
    for name, value in headers.items():
        if name.lower() in _RESERVED_HEADERS:
            yield Problem("The header is reserved.", f"{place}.{name}")
        elif "\n" in value or "\r" in value or not value.isascii():
            yield Problem("Headers must be strings of one line of ASCII.", f"{place}.{name}")


def _is_address(value: object) -> bool:
    return isinstance(value, str) and _ADDRESS.fullmatch(value) is not None
