"""What SendGrid refuses, and how it says so; from its documentation only.

https://www.twilio.com/docs/sendgrid/api-reference/mail-send/mail-send
https://www.twilio.com/docs/sendgrid/api-reference/mail-send/errors
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from emulator.mailbox.mails import recipients_of

# Limits of SendGrid, for one request, one personalization, and one request in bytes.
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
    """An entry of SendGrid's error body; `field` points into the request."""

    message: str
    field: str | None


def error_body(found: Sequence[Problem]) -> dict[str, Any]:
    """Return the body of the answer that names some problems."""
    return {
        "errors": [
            {
                "message": problem.message,
                "field": problem.field,
                "help": _HELP if problem.field else None,
            }
            for problem in found
        ]
    }


def problems(body: object, refused: Sequence[str] = ()) -> list[Problem]:
    """What SendGrid would find wrong with the body of a request, beyond its API's description.

    The description has the fields and their types: `tests/unit/mail/test_sendgrid_description.py`
    holds requests to it.

    Args:
        body: The parsed JSON.
        refused: Addresses that are refused although they look right.
    """
    try:
        return list(_problems(body, refused))
    except (TypeError, KeyError, AttributeError):
        return [Problem("Bad Request", None)]


def _problems(body: Any, refused: Sequence[str]) -> Iterator[Problem]:
    for field in {"from", "reply_to"} & {"from", *body}:
        if not _is_address(body[field]["email"]):
            yield Problem(f"The {field} email does not contain a valid address.", f"{field}.email")
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
        yield from _recipient_problems(personalization["to"], place, seen, refused)
        yield from _size_problems(personalization, place)
        yield from _header_problems(personalization.get("headers", {}), f"{place}.headers")


def _recipient_problems(
    recipients: Sequence[Mapping[str, Any]], place: str, seen: set[str], refused: Sequence[str]
) -> Iterator[Problem]:
    for number, to in enumerate(recipients):
        address = to["email"]
        if not _is_address(address) or address in refused:
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
        message = f"The substitutions are limited to {MAX_SUBSTITUTION_BYTES} bytes; there are "
        yield Problem(f"{message}{size}.", f"{place}.substitutions")
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
