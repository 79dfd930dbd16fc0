"""The mailbox's HTTP server: SendGrid's API, and pages that show the emails."""

import gzip
import json
import re
import time
from email.message import Message
from http import HTTPStatus
from typing import Final

from emulator import pictures
from emulator.mailbox import pages
from emulator.mailbox.event_webhook import EventWebhook
from emulator.mailbox.faults import Fault
from emulator.mailbox.inbox import Inbox
from emulator.provider_models import sendgrid
from emulator.provider_models.sendgrid import MAX_REQUEST_BYTES, Answer
from emulator.server import HOST, HttpRequest, HttpResponse, StandIn


class Mailbox(Inbox, StandIn):
    """A running mailbox. Also a context manager.

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
            port: 0 means any free port.
            events: Sends delivery reports. Closed together with the mailbox.

        Raises:
            OSError: The port is in use.
        """
        Inbox.__init__(self, events)
        StandIn.__init__(self, self._answer, port=port)

    def close(self) -> None:
        """Stop listening and end every request. Recorded emails stay available."""
        self.healed.set()
        super().close()
        if self._events:
            self._events.close()

    @property
    def url(self) -> str:
        """URL of the API and the pages."""
        return f"http://{HOST}:{self.port}"

    def _answer(self, asked: HttpRequest) -> HttpResponse | None:
        if (asked.method, asked.path) == ("POST", "/v3/mail/send"):
            return self._send_mail(asked)
        return self._page(asked.path) if asked.method == "GET" else _NOT_FOUND

    def _page(self, path: str) -> HttpResponse:
        emails = self.emails
        if path == "/":
            return _page(pages.overview(emails))
        if path == "/mails":
            text = json.dumps([pages.as_json(email) for email in emails])
            return _page(text, "application/json")
        if path.startswith(pictures.DRAWN):
            return _page(pictures.draw(path), "image/svg+xml")
        found = re.fullmatch(r"/mails/([0-9]{1,9})(\.html)?", path)
        if found is None or not 0 < int(found[1]) <= len(emails):
            return _NOT_FOUND
        email = emails[int(found[1]) - 1]
        return _page(pages.html_part(email) if found[2] else pages.email_page(email))

    def _send_mail(self, asked: HttpRequest) -> HttpResponse | None:
        raw = asked.body
        if asked.headers.get("Content-Encoding") == "gzip":
            raw = gzip.decompress(raw)
        refusal, body = _read_mail(asked.headers, raw)
        answer = sendgrid.refused(refusal) if refusal else self._receive(body)
        self.record(answer.status, raw, body)
        return None if answer == sendgrid.NO_ANSWER else _reply(answer)

    def _receive(self, body: object) -> Answer:
        """Accept the emails unless they are invalid or a fault rejects them."""
        fault = self.next_fault() or Fault()
        if fault.refusal:
            return fault.refusal(time.time())
        wrong = sendgrid.problems(body, fault.addresses)
        if wrong or not isinstance(body, dict):
            return sendgrid.refused(HTTPStatus.BAD_REQUEST, *wrong)
        message_id = self.accept(body)
        if fault.is_cut:
            return sendgrid.NO_ANSWER
        self.healed.wait(fault.seconds)
        return sendgrid.accepted(message_id)


def _read_mail(headers: Message, raw: bytes) -> tuple[HTTPStatus | None, object]:
    """Return an error status for a malformed request, or None, and the parsed body."""
    if not re.fullmatch(r"Bearer \S+", headers.get("Authorization") or ""):
        return HTTPStatus.UNAUTHORIZED, None
    if headers.get_content_type() != "application/json":
        return HTTPStatus.UNSUPPORTED_MEDIA_TYPE, None
    if len(raw) > MAX_REQUEST_BYTES:
        return HTTPStatus.REQUEST_ENTITY_TOO_LARGE, None
    try:
        return None, json.loads(raw)
    except ValueError:
        return HTTPStatus.BAD_REQUEST, None


def _page(text: str, kind: str = "text/html; charset=utf-8") -> HttpResponse:
    return HTTPStatus.OK, {"Content-Type": kind}, text.encode()


def _reply(answer: Answer) -> HttpResponse:
    return answer.status, {"Content-Type": "application/json", **answer.headers}, answer.body


_NOT_FOUND: Final = _reply(sendgrid.refused(HTTPStatus.NOT_FOUND))
