"""The mailbox: an inbox over HTTP, by SendGrid's API and by its pages."""

import contextlib
import gzip
import json
import re
import socket
import time
from collections.abc import Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler

from emulator import pictures
from emulator.mailbox import pages
from emulator.mailbox.events import EventWebhook
from emulator.mailbox.faults import Fault
from emulator.mailbox.inbox import Inbox
from emulator.neighbours import sendgrid
from emulator.neighbours.sendgrid import MAX_REQUEST_BYTES, Answer
from emulator.server import HOST, LocalServer, StandIn

_JSON = "application/json"
_HTML = "text/html; charset=utf-8"


class Mailbox(Inbox, StandIn):
    """A running mailbox; a context manager.

    Attributes:
        port: The port that it listens on.
    """

    def __init__(
        self,
        *,
        port: int = 0,
        events: EventWebhook | None = None,
    ) -> None:
        """Start listening.

        Args:
            port: 0 takes any free one.
            events: Tells what becomes of the mails; closed with the mailbox.

        Raises:
            OSError: The port is taken.
        """
        Inbox.__init__(self, events)
        StandIn.__init__(self, LocalServer(port, type("Handler", (_Handler,), {"mailbox": self})))

    def close(self) -> None:
        """Stop listening and let go of every request; what was received stays readable."""
        self.healed.set()
        super().close()
        if self._events:
            self._events.close()

    @property
    def url(self) -> str:
        """The address of the API, and of the page."""
        return f"http://{HOST}:{self.port}"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    mailbox: Inbox

    def log_message(self, *_: object) -> None:
        """Print nothing."""

    def do_POST(self) -> None:
        raw = self._body()
        if self.path != "/v3/mail/send":
            self._not_found()
            return
        with self.mailbox.flight():
            self._send_mail(raw)

    def do_GET(self) -> None:
        mails = self.mailbox.mails
        if self.path == "/":
            self._answer(HTTPStatus.OK, _HTML, pages.overview(mails))
        elif self.path == "/mails":
            self._json(HTTPStatus.OK, [pages.as_json(mail) for mail in mails])
        elif found := re.fullmatch(r"/mails/([0-9]{1,9})(\.html)?", self.path):
            number = int(found[1])
            if not 0 < number <= len(mails):
                self._json(HTTPStatus.NOT_FOUND, {})
                return
            page = pages.alone if found[2] else pages.mail_page
            self._answer(HTTPStatus.OK, _HTML, page(mails[number - 1]))
        elif self.path.startswith(pictures.DRAWN):
            self._answer(HTTPStatus.OK, "image/svg+xml", pictures.draw(self.path))
        else:
            self._not_found()

    def _send_mail(self, raw: bytes) -> None:
        refusal, body = self._read_mail(raw)
        answer = sendgrid.refused(refusal) if refusal else self._answered(body)
        self.mailbox.record(answer.status, raw, body)
        with contextlib.suppress(OSError):
            if answer == sendgrid.NO_ANSWER:
                self.close_connection = True
                self.connection.shutdown(socket.SHUT_RDWR)
            else:
                self._answer(answer.status, _JSON, answer.body, answer.headers)

    def _answered(self, body: object) -> Answer:
        """Take the mails, unless they or a fault are against it; the answer."""
        fault = self.mailbox.next_fault() or Fault()
        if fault.refusal:
            return fault.refusal(time.time())
        wrong = sendgrid.problems(body, fault.addresses)
        if wrong or not isinstance(body, dict):
            return sendgrid.refused(HTTPStatus.BAD_REQUEST, *wrong)
        message_id = self.mailbox.take(body)
        if fault.is_cut:
            return sendgrid.NO_ANSWER
        self.mailbox.healed.wait(fault.seconds)
        return sendgrid.accepted(message_id)

    def _read_mail(self, raw: bytes) -> tuple[HTTPStatus | None, object]:
        """Why the request is no mail at all, or its body."""
        if not re.fullmatch(r"Bearer \S+", self.headers.get("Authorization") or ""):
            return HTTPStatus.UNAUTHORIZED, None
        if self.headers.get_content_type() != _JSON:
            return HTTPStatus.UNSUPPORTED_MEDIA_TYPE, None
        if len(raw) > MAX_REQUEST_BYTES:
            return HTTPStatus.REQUEST_ENTITY_TOO_LARGE, None
        try:
            return None, json.loads(raw)
        except ValueError:
            return HTTPStatus.BAD_REQUEST, None

    def _body(self) -> bytes:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        return gzip.decompress(body) if self.headers.get("Content-Encoding") == "gzip" else body

    def _not_found(self) -> None:
        self._answer(HTTPStatus.NOT_FOUND, _JSON, sendgrid.refused(HTTPStatus.NOT_FOUND).body)

    def _json(self, code: int, body: object) -> None:
        self._answer(code, _JSON, json.dumps(body).encode())

    def _answer(
        self, code: int, kind: str, text: str | bytes, headers: Mapping[str, str] | None = None
    ) -> None:
        content = text.encode() if isinstance(text, str) else text
        self.send_response(code)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)
