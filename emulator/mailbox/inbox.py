"""The mailbox's state: accepted emails, received requests, and pending faults."""

import secrets
import threading
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from emulator.mailbox.emails import Email, Request, emails_of
from emulator.mailbox.event_webhook import EventWebhook
from emulator.mailbox.faults import Fault, FaultQueue
from emulator.provider_models.sendgrid import recipients_of


class Inbox:
    """The emails, their requests, and the pending faults. Thread-safe.

    Attributes:
        healed: Set to end the delays of slow responses.
    """

    def __init__(self, events: EventWebhook | None) -> None:
        self._events = events
        self._changed = threading.Condition()
        self._emails: list[Email] = []
        self._requests: list[Request] = []
        self._faults = FaultQueue()
        self.healed = threading.Event()

    @property
    def emails(self) -> tuple[Email, ...]:
        """Every email so far, oldest first."""
        with self._changed:
            return tuple(self._emails)

    @property
    def requests(self) -> tuple[Request, ...]:
        """Every request that is finished, with or without a response, oldest first."""
        with self._changed:
            return tuple(self._requests)

    def to(self, address: str) -> tuple[Email, ...]:
        """Return every email to `address`, oldest first."""
        return tuple(email for email in self.emails if email.to == address)

    def fail_with(self, *faults: Fault) -> None:
        """Apply `faults` to the next requests, one fault after another."""
        with self._changed:
            self.healed.clear()
            self._faults.add(*faults)

    def heal(self) -> None:
        """Remove every fault, and end the delays of slow responses."""
        with self._changed:
            self._faults.clear()
            self.healed.set()

    def forget(self) -> None:
        """Remove every email and request."""
        with self._changed:
            self._emails.clear()
            self._requests.clear()

    def wait_for(
        self, predicate: Callable[[Sequence[Email]], bool], timeout: float
    ) -> tuple[Email, ...]:
        """Wait until `predicate` accepts the emails so far, and return them.

        Raises:
            TimeoutError: `predicate` still rejects them after `timeout` seconds.
        """
        with self._changed:
            if not self._changed.wait_for(lambda: predicate(tuple(self._emails)), timeout):
                raise TimeoutError(f"after {timeout} s there were {len(self._emails)} emails")
            return tuple(self._emails)

    def next_fault(self) -> Fault | None:
        """Return the fault of the next request, or None if it succeeds."""
        with self._changed:
            return self._faults.next()

    def accept(self, body: Mapping[str, Any]) -> str:
        """Accept the emails of a valid request and return the request's ID."""
        message_id = secrets.token_urlsafe(16)
        at = datetime.now(UTC)
        with self._changed:
            emails = list(emails_of(body, message_id, at, len(self._emails) + 1))
            self._emails.extend(emails)
            self._changed.notify_all()
        if self._events:
            self._events.add(emails)
        return message_id

    def deliver(self, email: Callable[[int], Email]) -> None:
        """Add an email of the mail server, whose delivery is not reported."""
        with self._changed:
            self._emails.append(email(len(self._emails) + 1))
            self._changed.notify_all()

    def record(self, status: int, raw: bytes, body: object) -> None:
        """Record a request with the status of its response, or 0 without a response."""
        request = Request(datetime.now(UTC), status, tuple(recipients_of(body)), raw)
        with self._changed:
            self._requests.append(request)
            self._changed.notify_all()
