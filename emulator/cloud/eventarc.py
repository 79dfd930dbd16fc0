"""A stand-in for Eventarc: delivers the writes that Firestore's emulator announces to triggers.

Delivery is at-least-once: after an error response, the write is retried with backoff. As on Google
Cloud, the write of a large document calls no trigger. A log line reports it. The emulator is
answered immediately, because it waits for the response before its next announcement.

https://cloud.google.com/eventarc/docs/retry-events
"""

import asyncio
import base64
import itertools
import json
import urllib.request
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final, Self

from google.events.cloud.firestore import DocumentEventData

from emulator.cloud.http import SUCCESSES
from emulator.firebase import PROJECT
from emulator.provider_models.eventarc import EVENT_BYTES, backoff

MIN_BACKOFF: Final = 1.0
"""First backoff, in seconds. Eventarc's is ten."""

PATH: Final = f"/functions/projects/{PROJECT}/triggers/"
"""Path at which the emulator announces a write, followed by the name of the trigger."""

_CALL_SECONDS: Final = 60.0


@dataclass(frozen=True, slots=True)
class AnnouncedWrite:
    """A write for one trigger: a CloudEvent in HTTP's binary format."""

    function: str
    headers: Mapping[str, str]
    body: bytes
    changes: bool = True
    """Whether the document exists before or after the write. Google announces no other write."""

    @classmethod
    def from_emulator(cls, function: str, headers: Mapping[str, str], body: bytes) -> Self:
        """Convert the emulator's announcement to the request that Google sends.

        The emulator encodes the body as base64 and truncates the time to seconds.
        """
        kept = {
            name: value
            for name, value in headers.items()
            if name.startswith("ce-") or name == "content-type"
        }
        decoded = base64.b64decode(body)
        data = DocumentEventData.pb(DocumentEventData.deserialize(decoded))
        if data.HasField("value"):
            kept["ce-time"] = data.value.update_time.ToJsonString()
        return cls(function, kept, decoded, bool(data.value.name or data.old_value.name))

    @property
    def at(self) -> datetime:
        """Time of the write, or the end of its second for a deletion."""
        at = datetime.fromisoformat(self.headers["ce-time"])
        return at if at.microsecond else at + timedelta(seconds=1)

    @property
    def event_id(self) -> str:
        """ID of the photo wall's event that the document belongs to."""
        return self.headers.get("ce-document", "//").split("/")[1]


class Eventarc:
    """Delivers writes in the event loop that is running at its creation."""

    def __init__(
        self, call: Callable[[AnnouncedWrite], Awaitable[int]], on_line: Callable[[str], None]
    ) -> None:
        """Prepare the deliveries.

        Args:
            call: Calls the trigger and returns the response's status.
            on_line: Called with each log line.
        """
        self._call = call
        self._on_line = on_line
        self._silenced: dict[str, datetime] = {}
        self._open: set[asyncio.Task[None]] = set()

    def announce(self, write: AnnouncedWrite) -> None:
        """Start to deliver a write."""
        if not (write.changes and self._is_wanted(write)):
            return
        if (size := len(write.body)) > EVENT_BYTES:
            self._on_line(
                f"Eventarc does not call {write.function}: {write.headers.get('ce-document')} has"
                f" {size:,} bytes before and after the write. The limit is {EVENT_BYTES:,} bytes.\n"
            )
        else:
            delivery = asyncio.create_task(self._deliver(write))
            self._open.add(delivery)
            delivery.add_done_callback(self._open.discard)

    def silence(self, event_id: str) -> None:
        """Stop all deliveries of an event's writes, including retries."""
        self._silenced[event_id] = datetime.max.replace(tzinfo=UTC)

    def resume(self, event_id: str) -> None:
        """Deliver the event's writes from now on."""
        self._silenced[event_id] = datetime.now(UTC)

    def _is_wanted(self, write: AnnouncedWrite) -> bool:
        until = self._silenced.get(write.event_id)
        return until is None or write.at > until

    async def _deliver(self, write: AnnouncedWrite) -> None:
        for calls in itertools.count(1):
            if not self._is_wanted(write) or await self._call(write) in SUCCESSES:
                return
            await asyncio.sleep(backoff(calls, MIN_BACKOFF))


def register(firestore: str, function: str, trigger: Mapping[str, Any]) -> None:
    """Register a trigger with the emulator at `firestore`, a `host:port`."""
    filters = trigger.get("eventFilters", {})
    pattern = trigger.get("eventFilterPathPatterns", {}).get("document")
    wanted = {
        "eventType": trigger["eventType"],
        "database": filters["database"],
        "namespace": filters["namespace"],
        "document": {
            "value": pattern or filters["document"],
            "matchType": "PATH_PATTERN" if pattern else "EXACT",
        },
    }
    request = urllib.request.Request(
        f"http://{firestore}/emulator/v1/projects/{PROJECT}/eventarcTrigger"
        f"?eventarcTriggerId={function}",
        json.dumps(wanted).encode(),
        {"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=_CALL_SECONDS):  # noqa: S310 - loopback
        pass
