"""A mailbox that stands in for SendGrid: what would have been mailed, to read in a browser.

It answers `POST /v3/mail/send` as SendGrid documents it, refuses what SendGrid would refuse, and
can be told to fail. It knows that documentation only, and shares no code with the service.

    with Mailbox(port=9180) as mailbox:
        mailbox.fail_with(too_many_requests(), times=1)
        ...  # have the service send
        mailbox.wait_for(lambda mails: len(mails) == 3, timeout=10)

Alone: `python -m emulator.mailbox`, then http://127.0.0.1:9180/ in a browser, and for faults
`curl -X PUT 127.0.0.1:9180/faults -d '{"kind": "status", "status": 503, "times": 1}'`.

https://www.twilio.com/docs/sendgrid/api-reference/mail-send/mail-send
https://www.twilio.com/docs/sendgrid/api-reference/mail-send/errors
"""

from __future__ import annotations

import argparse
import contextlib
import gzip
import html
import json
import re
import secrets
import signal
import socket
import threading
import time
from collections import deque
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from types import TracebackType

HOST = "127.0.0.1"
PORT = 9180

# Limits of SendGrid, for one request, one personalization, and one request in bytes.
MAX_PERSONALIZATIONS = 1000
MAX_SUBSTITUTION_BYTES = 10_000
MAX_REQUEST_BYTES = 30_000_000

# Seconds that a hanging request is held at most.
HANG_LIMIT = 600.0

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


class FaultKind(StrEnum):
    """How a request goes wrong.

    `STATUS` answers with a status and takes nothing, `SLOW` takes the mails and answers late,
    `HANG` takes nothing and never answers, `DROP` takes the mails and cuts the connection instead
    of answering, `BAD_ADDRESS` refuses addresses that the rules would let pass.
    """

    STATUS = "status"
    SLOW = "slow"
    HANG = "hang"
    DROP = "drop"
    BAD_ADDRESS = "bad-address"


@dataclass(frozen=True, slots=True)
class Fault:
    """What happens to the next requests.

    Attributes:
        kind: What.
        status: The HTTP status, for `STATUS`.
        seconds: For `SLOW` how late, for status 429 how long until the limit is reset.
        times: How many requests it happens to; 0 means all of them until `heal`.
        after: How many requests go well before.
        addresses: Those that are refused, for `BAD_ADDRESS`.
    """

    kind: FaultKind
    status: int = 0
    seconds: float = 0.0
    times: int = 1
    after: int = 0
    addresses: tuple[str, ...] = ()


def status(code: int, *, times: int = 1, after: int = 0) -> Fault:
    """Answer with an HTTP status and take nothing."""
    return Fault(FaultKind.STATUS, status=code, times=times, after=after)


def too_many_requests(reset_seconds: float = 1.0, *, times: int = 1, after: int = 0) -> Fault:
    """Answer 429 with `X-RateLimit-Reset`."""
    return Fault(FaultKind.STATUS, status=429, seconds=reset_seconds, times=times, after=after)


def slow(seconds: float, *, times: int = 0) -> Fault:
    """Answer late."""
    return Fault(FaultKind.SLOW, seconds=seconds, times=times)


def hang(*, times: int = 1, after: int = 0) -> Fault:
    """Take nothing and never answer."""
    return Fault(FaultKind.HANG, times=times, after=after)


def drop(*, times: int = 1, after: int = 0) -> Fault:
    """Take the mails and cut the connection."""
    return Fault(FaultKind.DROP, times=times, after=after)


def bad_address(*addresses: str) -> Fault:
    """Refuse some addresses, until `heal`."""
    return Fault(FaultKind.BAD_ADDRESS, addresses=addresses, times=0)


@dataclass(frozen=True, slots=True)
class Mail:
    """One mail to one recipient, as it would be delivered: substitutions are made.

    Attributes:
        number: Counted from 1.
        at: When it was accepted.
        message_id: The request's `X-Message-Id`.
        to: The recipient's address.
        sender: The sender, with the name.
        subject: The subject.
        text: The plain-text part; empty where there is none.
        html: The HTML part; empty where there is none.
        headers: The mail's own headers.
        personalization: What the request says about this recipient.
    """

    number: int
    at: datetime
    message_id: str
    to: str
    sender: str
    subject: str
    text: str
    html: str
    headers: Mapping[str, str]
    personalization: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Request:
    """One request as it arrived, and the status it was answered with; 0 means no answer."""

    at: datetime
    status: int
    recipients: tuple[str, ...]
    body: bytes


@dataclass(frozen=True, slots=True)
class Problem:
    """An entry of SendGrid's error body; `field` points into the request."""

    message: str
    field: str | None


class Mailbox:
    """A running mailbox; a context manager.

    Attributes:
        port: The port that it listens on.
    """

    def __init__(self, *, port: int = 0, on_mails: Callable[[int], None] | None = None) -> None:
        """Start listening.

        Args:
            port: 0 takes any free one.
            on_mails: Called with the number of mails of each request that is accepted.

        Raises:
            OSError: The port is taken.
        """
        self._on_mails = on_mails
        self._changed = threading.Condition()
        self._mails: list[Mail] = []
        self._requests: list[Request] = []
        self._faults: deque[Fault] = deque()
        self._in_flight = 0
        self._closing = threading.Event()
        self._healed = threading.Event()
        self._server = _Server((HOST, port), self)
        self.port: int = self._server.server_address[1]
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Stop listening and let go of every request; what was received stays readable."""
        self._closing.set()
        self._healed.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def url(self) -> str:
        """The address of the API, and of the page."""
        return f"http://{HOST}:{self.port}"

    @property
    def mails(self) -> tuple[Mail, ...]:
        """Every mail so far, oldest first."""
        with self._changed:
            return tuple(self._mails)

    @property
    def requests(self) -> tuple[Request, ...]:
        """Every request that was answered, or will never be, oldest first."""
        with self._changed:
            return tuple(self._requests)

    @property
    def in_flight(self) -> int:
        """How many requests have arrived whole and are not answered yet."""
        with self._changed:
            return self._in_flight

    def to(self, address: str) -> tuple[Mail, ...]:
        """Every mail to one address, oldest first."""
        return tuple(mail for mail in self.mails if mail.to == address)

    def fail_with(self, *faults: Fault) -> None:
        """Have the next requests go wrong, by one fault after the other."""
        with self._changed:
            self._healed.clear()
            self._faults.extend(faults)

    def heal(self) -> None:
        """Forget every fault, and let hanging requests go without an answer."""
        with self._changed:
            self._faults.clear()
            self._healed.set()

    def forget(self) -> None:
        """Forget every mail and request."""
        with self._changed:
            self._mails.clear()
            self._requests.clear()

    def wait_for(
        self, predicate: Callable[[Sequence[Mail]], bool], timeout: float
    ) -> tuple[Mail, ...]:
        """Wait until the mails so far satisfy `predicate`, and return them.

        Raises:
            TimeoutError: They do not within `timeout` seconds.
        """
        with self._changed:
            if not self._changed.wait_for(lambda: predicate(tuple(self._mails)), timeout):
                raise TimeoutError(f"after {timeout} s there were {len(self._mails)} mails")
            return tuple(self._mails)

    def wait_in_flight(self, at_least: int, timeout: float) -> None:
        """Wait until so many requests have arrived whole and are not answered.

        Raises:
            TimeoutError: They do not within `timeout` seconds.
        """
        with self._changed:
            if not self._changed.wait_for(lambda: self._in_flight >= at_least, timeout):
                raise TimeoutError(f"after {timeout} s {self._in_flight} requests were in flight")

    def _next_fault(self) -> Fault | None:
        with self._changed:
            if not self._faults:
                return None
            fault = self._faults[0]
            if fault.after:
                self._faults[0] = _replaced(fault, after=fault.after - 1)
                return None
            if fault.times == 1:
                self._faults.popleft()
            elif fault.times:
                self._faults[0] = _replaced(fault, times=fault.times - 1)
            return fault

    @contextlib.contextmanager
    def _flight(self) -> Iterator[None]:
        with self._changed:
            self._in_flight += 1
            self._changed.notify_all()
        try:
            yield
        finally:
            with self._changed:
                self._in_flight -= 1
                self._changed.notify_all()

    def _take(self, body: Mapping[str, Any]) -> str:
        message_id = secrets.token_urlsafe(16)
        at = datetime.now(UTC)
        with self._changed:
            first = len(self._mails) + 1
            mails = list(_mails(body, message_id, at, first))
            self._mails.extend(mails)
            self._changed.notify_all()
        if self._on_mails:
            self._on_mails(len(mails))
        return message_id

    def _record(self, code: int, body: bytes, parsed: object) -> None:
        request = Request(datetime.now(UTC), code, tuple(_recipients(parsed)), body)
        with self._changed:
            self._requests.append(request)
            self._changed.notify_all()


def _replaced(fault: Fault, **changes: int) -> Fault:
    fields = {name: getattr(fault, name) for name in Fault.__slots__}
    return Fault(**(fields | changes))


def _recipients(body: object) -> Iterator[str]:
    with contextlib.suppress(TypeError, KeyError, AttributeError):
        for personalization in body["personalizations"]:  # type: ignore[index]
            for to in personalization["to"]:
                yield str(to["email"])


def _mails(body: Mapping[str, Any], message_id: str, at: datetime, number: int) -> Iterator[Mail]:
    content = {part["type"]: part["value"] for part in body.get("content", [])}
    for personalization in body["personalizations"]:
        tags = personalization.get("substitutions", {})
        sender = personalization.get("from") or body["from"]
        for to in personalization["to"]:
            yield Mail(
                number=number,
                at=at,
                message_id=message_id,
                to=to["email"],
                sender=f"{sender.get('name', '')} <{sender['email']}>".strip(),
                subject=_substituted(personalization.get("subject") or body["subject"], tags),
                text=_substituted(content.get("text/plain", ""), tags),
                html=_substituted(content.get("text/html", ""), tags),
                headers=body.get("headers", {}) | personalization.get("headers", {}),
                personalization=personalization,
            )
            number += 1


def _substituted(text: str, tags: Mapping[str, str]) -> str:
    for tag, value in tags.items():
        text = text.replace(tag, value)
    return text


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
    count = sum(1 for _ in _recipients(body))
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
    personalizations = body.get("personalizations")
    everywhere = isinstance(personalizations, list) and all(
        isinstance(one, dict) and one.get("subject") for one in personalizations
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
    if substitutions is None:
        return
    if not isinstance(substitutions, dict):
        yield Problem("Substitutions must be an object.", field)
        return
    for tag, value in substitutions.items():
        if not isinstance(value, str):
            yield Problem("Substitutions must be strings.", f"{field}.{tag}")
    size = sum(len(f"{tag}{value}".encode()) for tag, value in substitutions.items())
    if size > MAX_SUBSTITUTION_BYTES:
        message = f"The substitutions are limited to {MAX_SUBSTITUTION_BYTES} bytes; there are "
        yield Problem(f"{message}{size}.", field)


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


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, address: tuple[str, int], mailbox: Mailbox) -> None:
        self.mailbox = mailbox
        super().__init__(address, _Handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Keep quiet about clients that go away."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def log_message(self, *_: object) -> None:
        """Print nothing."""

    def do_POST(self) -> None:
        body = self._body()
        if self.path != "/v3/mail/send":
            self._json(HTTPStatus.NOT_FOUND, _errors("not found", None))
            return
        with self.server.mailbox._flight():  # noqa: SLF001 - one module
            self._send_mail(body)

    def do_GET(self) -> None:
        if self.path == "/":
            page = _PAGE.replace("{rows}", _rows(self.server.mailbox.mails))
            self._answer(HTTPStatus.OK, "text/html; charset=utf-8", page.encode())
        elif found := re.fullmatch(r"/mails/([0-9]{1,9})(\.html)?", self.path):
            mails = self.server.mailbox.mails
            number = int(found[1])
            if not 0 < number <= len(mails):
                self._json(HTTPStatus.NOT_FOUND, {})
            elif found[2]:
                # As mail programs do: a link opens outside, and many pages refuse a frame anyway.
                page = mails[number - 1].html.replace("<head>", '<head><base target="_blank">', 1)
                self._answer(HTTPStatus.OK, "text/html; charset=utf-8", page.encode())
            else:
                page = _mail_page(mails[number - 1])
                self._answer(HTTPStatus.OK, "text/html; charset=utf-8", page.encode())
        elif self.path == "/mails":
            self._json(HTTPStatus.OK, [_as_json(mail) for mail in self.server.mailbox.mails])
        else:
            self._json(HTTPStatus.NOT_FOUND, _errors("not found", None))

    def do_PUT(self) -> None:
        body = self._body()
        if self.path != "/faults":
            self._json(HTTPStatus.NOT_FOUND, _errors("not found", None))
            return
        try:
            fields = json.loads(body)
            fields["kind"] = FaultKind(fields["kind"])
            fields["addresses"] = tuple(fields.get("addresses", ()))
            self.server.mailbox.fail_with(Fault(**fields))
        except (ValueError, KeyError, TypeError) as error:
            self._json(HTTPStatus.BAD_REQUEST, _errors(str(error), None))
            return
        self._json(HTTPStatus.OK, {})

    def do_DELETE(self) -> None:
        if self.path == "/faults":
            self.server.mailbox.heal()
        elif self.path == "/mails":
            self.server.mailbox.forget()
        else:
            self._json(HTTPStatus.NOT_FOUND, _errors("not found", None))
            return
        self._json(HTTPStatus.OK, {})

    def _send_mail(self, raw: bytes) -> None:
        refusal, body = self._read_mail(raw)
        if refusal:
            self._finish(refusal, raw, None, _errors(refusal.phrase.lower(), None))
            return
        mailbox = self.server.mailbox
        fault = mailbox._next_fault()  # noqa: SLF001 - one module
        if fault and self._failed(fault, raw, body):
            return
        refused = fault.addresses if fault else ()
        if (wrong := problems(body, refused)) or not isinstance(body, dict):
            self._finish(HTTPStatus.BAD_REQUEST, raw, body, _error_body(wrong))
            return
        message_id = mailbox._take(body)  # noqa: SLF001 - one module
        if fault and fault.kind is FaultKind.DROP:
            self._hang_up(raw, body)
            return
        if fault and fault.kind is FaultKind.SLOW:
            mailbox._healed.wait(fault.seconds)  # noqa: SLF001 - one module
        self._finish(HTTPStatus.ACCEPTED, raw, body, None, {"X-Message-Id": message_id})

    def _read_mail(self, raw: bytes) -> tuple[HTTPStatus | None, object]:
        """Why the request is no mail at all, or its body."""
        if not re.fullmatch(r"Bearer \S+", self.headers.get("Authorization") or ""):
            return HTTPStatus.UNAUTHORIZED, None
        if self.headers.get_content_type() != "application/json":
            return HTTPStatus.UNSUPPORTED_MEDIA_TYPE, None
        if len(raw) > MAX_REQUEST_BYTES:
            return HTTPStatus.REQUEST_ENTITY_TOO_LARGE, None
        try:
            return None, json.loads(raw)
        except ValueError:
            return HTTPStatus.BAD_REQUEST, None

    def _failed(self, fault: Fault, raw: bytes, body: object) -> bool:
        """Whether the fault has seen to the answer."""
        mailbox = self.server.mailbox
        if fault.kind is FaultKind.HANG:
            mailbox._healed.wait(HANG_LIMIT)  # noqa: SLF001 - one module
            self._hang_up(raw, body)
            return True
        if fault.kind is not FaultKind.STATUS:
            return False
        headers = {}
        if fault.status == HTTPStatus.TOO_MANY_REQUESTS:
            reset = int(time.time() + fault.seconds)
            headers = {"X-RateLimit-Limit": "600", "X-RateLimit-Remaining": "0"}
            headers["X-RateLimit-Reset"] = str(reset)
        message = HTTPStatus(fault.status).phrase.lower()
        self._finish(fault.status, raw, body, _errors(message, None), headers)
        return True

    def _finish(
        self,
        code: int,
        raw: bytes,
        parsed: object,
        answer: object,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self.server.mailbox._record(int(code), raw, parsed)  # noqa: SLF001 - one module
        content = b"" if answer is None else json.dumps(answer).encode()
        with contextlib.suppress(OSError):
            self._answer(code, "application/json", content, headers)

    def _hang_up(self, raw: bytes, parsed: object) -> None:
        self.server.mailbox._record(0, raw, parsed)  # noqa: SLF001 - one module
        self.close_connection = True
        with contextlib.suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)

    def _body(self) -> bytes:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        return gzip.decompress(body) if self.headers.get("Content-Encoding") == "gzip" else body

    def _json(self, code: int, body: object) -> None:
        self._answer(code, "application/json", json.dumps(body).encode())

    def _answer(
        self, code: int, kind: str, content: bytes, headers: Mapping[str, str] | None = None
    ) -> None:
        self.send_response(code)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)


def _errors(message: str, field: str | None) -> dict[str, Any]:
    return _error_body([Problem(message, field)])


def _error_body(found: Sequence[Problem]) -> dict[str, Any]:
    return {
        "errors": [
            {"message": one.message, "field": one.field, "help": _HELP if one.field else None}
            for one in found
        ]
    }


def _as_json(mail: Mail) -> dict[str, Any]:
    return {
        "number": mail.number,
        "at": mail.at.isoformat(),
        "messageId": mail.message_id,
        "to": mail.to,
        "from": mail.sender,
        "subject": mail.subject,
        "text": mail.text,
        "html": mail.html,
        "headers": dict(mail.headers),
    }


_STYLE = """
<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<style>
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; }
th { white-space: nowrap; }
td, th { text-align: start; padding: .4rem .6rem; border-bottom: 1px solid #8886;
  vertical-align: top; }
td { overflow-wrap: anywhere; }
iframe { width: 100%; height: 46rem; border: 1px solid #8886; background: #fff; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; border: 1px solid #8886; padding: .8rem; }
</style>
"""

_PAGE = f"""<!DOCTYPE html><html lang="en"><head><title>Mailbox</title>{_STYLE}</head><body>
<h1>Mailbox</h1><p>Mails that would have been sent, newest first.</p>
<table><thead><tr><th>At (UTC)<th>To<th>Subject</thead><tbody>{{rows}}</tbody></table>
</body></html>"""

_SHOWN = 500


def _rows(mails: Sequence[Mail]) -> str:
    rows = "".join(
        f'<tr><td>{mail.at:%H:%M:%S}<td>{html.escape(mail.to)}<td><a href="/mails/{mail.number}">'
        f"{html.escape(mail.subject)}</a>"
        for mail in reversed(mails[-_SHOWN:])
    )
    if len(mails) > _SHOWN:
        rows += f'<tr><td colspan="3">and {len(mails) - _SHOWN} older ones'
    return rows or '<tr><td colspan="3">Nothing yet.'


def _mail_page(mail: Mail) -> str:
    headers = {
        "From": mail.sender,
        "To": mail.to,
        "Subject": mail.subject,
        **mail.headers,
        "X-Message-Id": mail.message_id,
    }
    rows = "".join(
        f"<tr><th>{html.escape(name)}<td>{html.escape(value)}" for name, value in headers.items()
    )
    raw = json.dumps(mail.personalization, indent=2, ensure_ascii=False)
    title = html.escape(mail.subject)
    return f"""<!DOCTYPE html><html lang="en"><head><title>{title}</title>{_STYLE}</head><body>
<p><a href="/">All mails</a></p><h1>{title}</h1><table><tbody>{rows}</tbody></table>
<h2>HTML</h2><p><a href="/mails/{mail.number}.html">Alone</a></p>
<iframe sandbox="allow-popups allow-popups-to-escape-sandbox" title="HTML part"
 src="/mails/{mail.number}.html"></iframe>
<h2>Text</h2><pre>{html.escape(mail.text)}</pre>
<h2>In the request</h2><pre>{html.escape(raw)}</pre>
</body></html>"""


def main() -> None:
    """Run until Ctrl-C."""
    parser = argparse.ArgumentParser(prog="python -m emulator.mailbox", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--port", type=int, default=PORT)
    port = parser.parse_args().port
    ended = threading.Event()
    for one in (signal.SIGINT, signal.SIGTERM):
        signal.signal(one, lambda *_: ended.set())
    with Mailbox(port=port, on_mails=lambda n: print(f"{n} mails accepted", flush=True)) as box:
        print(f"Mailbox at {box.url}/", flush=True)
        ended.wait()


if __name__ == "__main__":
    main()
