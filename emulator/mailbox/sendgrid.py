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
    """What SendGrid would find wrong with the body of a request.

    Args:
        body: The parsed JSON.
        refused: Addresses that are refused although they look right.
    """
    if not isinstance(body, dict):
        return [Problem("Bad Request", None)]
    found = [*_envelope_problems(body), *_content_problems(body)]
    personalizations = body.get("personalizations")
    if not isinstance(personalizations, list) or not personalizations:
        message = (
            "The personalizations field is required and must have at least one personalization."
        )
        return [*found, Problem(message, "personalizations")]
    if len(personalizations) > MAX_PERSONALIZATIONS:
        message = (
            f"The personalization block is limited to {MAX_PERSONALIZATIONS} personalizations per "
            f"API request. You have provided {len(personalizations)} personalizations. Please "
            "consider splitting this into multiple requests and resending your request."
        )
        return [*found, Problem(message, "personalizations")]
    seen: set[str] = set()
    for number, personalization in enumerate(personalizations):
        place = f"personalizations.{number}"
        found += _recipient_problems(personalization, place, seen, refused)
        if isinstance(personalization, dict):
            found += _substitution_problems(personalization.get("substitutions"), place)
            found += _header_problems(personalization.get("headers"), place)
            found += _custom_args_problems(personalization.get("custom_args"), place)
    count = sum(1 for _ in recipients_of(body))
    if count > MAX_PERSONALIZATIONS:
        message = f"There is a limit of {MAX_PERSONALIZATIONS} total recipients per request."
        found.append(Problem(message, "personalizations"))
    return found


def _envelope_problems(body: Mapping[str, Any]) -> Iterator[Problem]:
    sender = body.get("from")
    if not isinstance(sender, dict) or "email" not in sender:
        message = "The from object must be provided for every email send. It is an object that "
        message += "requires the email parameter, but may also contain a name parameter."
        yield Problem(message, "from")
    elif not _is_address(sender["email"]):
        yield Problem("The from email does not contain a valid address.", "from.email")
    reply_to = body.get("reply_to")
    if reply_to is not None and not (
        isinstance(reply_to, dict) and _is_address(reply_to.get("email"))
    ):
        yield Problem("The reply_to email does not contain a valid address.", "reply_to.email")
    personalizations = body.get("personalizations")
    everywhere = isinstance(personalizations, list) and all(
        isinstance(personalization, dict) and personalization.get("subject")
        for personalization in personalizations
    )
    subject = body.get("subject")
    if subject is not None and not isinstance(subject, str):
        yield Problem("Invalid type. Expected: string.", "subject")
    elif not subject and not everywhere:
        yield Problem("The subject is required.", "subject")
    elif subject and ("\n" in subject or "\r" in subject):
        yield Problem("The subject must not contain line breaks.", "subject")


def _content_problems(body: Mapping[str, Any]) -> Iterator[Problem]:
    content = body.get("content")
    if not isinstance(content, list) or not content:
        yield Problem("Unless a valid template_id is provided, content is required.", "content")
        return
    kinds = []
    for number, part in enumerate(content):
        if not isinstance(part, dict) or not isinstance(part.get("type"), str):
            yield Problem("The content type must be a string.", f"content.{number}.type")
            continue
        kinds.append(part["type"])
        if not isinstance(part.get("value"), str) or not part["value"]:
            message = "The content value must be a string at least one character in length."
            yield Problem(message, f"content.{number}.value")
    if kinds != sorted(kinds, key=lambda kind: (kind != "text/plain", kind != "text/html")):
        message = "If present, text/plain must be first, followed by text/html."
        yield Problem(message, "content")


def _recipient_problems(
    personalization: object, place: str, seen: set[str], refused: Sequence[str]
) -> Iterator[Problem]:
    recipients = personalization.get("to") if isinstance(personalization, dict) else None
    if not isinstance(recipients, list) or not recipients:
        message = "The to array is required for all personalization objects, and must have at "
        message += "least one email object with a valid email address."
        yield Problem(message, f"{place}.to")
        return
    for number, to in enumerate(recipients):
        address = to.get("email") if isinstance(to, dict) else None
        field = f"{place}.to.{number}.email"
        if not _is_address(address) or address in refused:
            yield Problem("Does not contain a valid address.", field)
        elif str(address).lower() in seen:
            message = "Each unique email address in the personalizations array should only be "
            message += f"included once. You have included [{address}] more than once."
            yield Problem(message, "personalizations")
        seen.add(str(address).lower())


def _substitution_problems(substitutions: object, place: str) -> Iterator[Problem]:
    field = f"{place}.substitutions"
    yield from _text_problems(substitutions, "Substitutions", field)
    if not isinstance(substitutions, dict):
        return
    size = sum(len(f"{tag}{value}".encode()) for tag, value in substitutions.items())
    if size > MAX_SUBSTITUTION_BYTES:
        message = f"The substitutions are limited to {MAX_SUBSTITUTION_BYTES} bytes; there are "
        yield Problem(f"{message}{size}.", field)


def _custom_args_problems(custom_args: object, place: str) -> Iterator[Problem]:
    field = f"{place}.custom_args"
    yield from _text_problems(custom_args, "Custom arguments", field)
    if not isinstance(custom_args, dict):
        return
    if len(json.dumps(custom_args)) >= MAX_CUSTOM_ARGS_BYTES:
        yield Problem("The custom arguments may have less than 10,000 bytes.", field)


def _text_problems(texts: object, what: str, field: str) -> Iterator[Problem]:
    """Of an object that may be left out, and whose values are strings."""
    if texts is None:
        return
    if not isinstance(texts, dict):
        yield Problem(f"{what} must be an object.", field)
        return
    for name, value in texts.items():
        if not isinstance(value, str):
            yield Problem(f"{what} must be strings.", f"{field}.{name}")


def _header_problems(headers: object, place: str) -> Iterator[Problem]:
    field = f"{place}.headers"
    if headers is None:
        return
    if not isinstance(headers, dict):
        yield Problem("Headers must be an object.", field)
        return
    for name, value in headers.items():
        if name.lower() in _RESERVED_HEADERS:
            yield Problem("The header is reserved.", f"{field}.{name}")
        elif not isinstance(value, str) or "\n" in value or "\r" in value or not value.isascii():
            yield Problem("Headers must be strings of one line of ASCII.", f"{field}.{name}")


def _is_address(value: object) -> bool:
    return isinstance(value, str) and _ADDRESS.fullmatch(value) is not None
