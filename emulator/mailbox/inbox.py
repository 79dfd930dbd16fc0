"""What the mailbox has taken, and what it was told to do wrong."""

import contextlib
import secrets
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from emulator.mailbox.emails import Mail, Request, emails_of
from emulator.mailbox.event_webhook import EventWebhook
from emulator.mailbox.faults import Fault, FaultQueue
from emulator.provider_models.sendgrid import recipients_of


class Inbox:
    """The mails, the requests that they came in, and the faults to come; for many threads.

    Attributes:
        healed: Set when slow failures are to end.
    """

    def __init__(self, events: EventWebhook | None) -> None:
        self._events = events
        self._changed = threading.Condition()
        self._mails: list[Mail] = []
        self._requests: list[Request] = []
        self._faults = FaultQueue()
        self._in_flight = 0
        self.healed = threading.Event()

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

    def to(self, address: str) -> tuple[Mail, ...]:
        """Every mail to one address, oldest first."""
        return tuple(mail for mail in self.mails if mail.to == address)

    def fail_with(self, *faults: Fault) -> None:
        """Have the next requests go wrong, by one fault after the other."""
        with self._changed:
            self.healed.clear()
            self._faults.add(*faults)

    def heal(self) -> None:
        """Forget every fault, and answer the slow requests."""
        with self._changed:
            self._faults.clear()
            self.healed.set()

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

    @contextlib.contextmanager
    def flight(self) -> Iterator[None]:
        """Count a request that has arrived whole, until it is answered."""
        with self._changed:
            self._in_flight += 1
            self._changed.notify_all()
        try:
            yield
        finally:
            with self._changed:
                self._in_flight -= 1
                self._changed.notify_all()

    def next_fault(self) -> Fault | None:
        """Return what happens to the next request, None where it goes well."""
        with self._changed:
            return self._faults.next()

    def take(self, body: Mapping[str, Any]) -> str:
        """Take the mails of a request that SendGrid would accept; the request's id."""
        message_id = secrets.token_urlsafe(16)
        at = datetime.now(UTC)
        with self._changed:
            mails = list(emails_of(body, message_id, at, len(self._mails) + 1))
            self._mails.extend(mails)
            self._changed.notify_all()
        if self._events:
            self._events.add(mails)
        return message_id

    def record(self, status: int, raw: bytes, body: object) -> None:
        """Keep a request with the status that it is answered with; 0 for no answer."""
        request = Request(datetime.now(UTC), status, tuple(recipients_of(body)), raw)
        with self._changed:
            self._requests.append(request)
            self._changed.notify_all()
