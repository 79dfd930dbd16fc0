"""A stand-in for Eventarc: brings the writes that Firestore's emulator announces to the triggers.

A write comes at least once: a trigger that answers an error gets it again, later and later. A write
of too large a document calls no trigger, as at Google, and a line reports it. The
emulator is answered at once, because it announces nothing else until then.

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
"""Seconds. Eventarc waits ten; a test need not."""

PATH: Final = f"/functions/projects/{PROJECT}/triggers/"
"""Where the emulator announces a write, with the name of the trigger."""

_CALL_SECONDS: Final = 60.0


@dataclass(frozen=True, slots=True)
class Announced:
    """A write, for one trigger: a CloudEvent in HTTP's binary form."""

    function: str
    headers: Mapping[str, str]
    body: bytes
    changes: bool = True
    """Whether there is a document before or after it: Google announces no other write."""

    @classmethod
    def read(cls, function: str, headers: Mapping[str, str], body: bytes) -> Self:
        """Read the emulator's announcement, and make it what Google sends.

        The emulator encodes the body as base64, and cuts the time to seconds.
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
        """When it was made; of a deletion, the end of that second."""
        at = datetime.fromisoformat(self.headers["ce-time"])
        return at if at.microsecond else at + timedelta(seconds=1)

    @property
    def event_id(self) -> str:
        """The id of the photo wall's event that the document belongs to."""
        return self.headers.get("ce-document", "//").split("/")[1]


class Eventarc:
    """Deliveries of writes in the event loop that it is made in."""

    def __init__(
        self, call: Callable[[Announced], Awaitable[int]], on_line: Callable[[str], None]
    ) -> None:
        """`call` has the trigger run, and returns the status of its answer; see `Front.on_line`."""
        self._call = call
        self._on_line = on_line
        self._silenced: dict[str, datetime] = {}
        self._open: set[asyncio.Task[None]] = set()

    def announce(self, write: Announced) -> None:
        """Take a write on, and return at once."""
        if not (write.changes and self._is_heard(write)):
            return
        if (size := len(write.body)) > EVENT_BYTES:
            self._on_line(
                f"Eventarc does not call {write.function}: {write.headers.get('ce-document')} has"
                f" {size:,} bytes before and after the write together; at most {EVENT_BYTES:,} fit"
                " into an event\n"
            )
        else:
            way = asyncio.create_task(self._bring(write))
            self._open.add(way)
            way.add_done_callback(self._open.discard)

    def silence(self, event_id: str) -> None:
        """Bring no write of an event from now on, not even again."""
        self._silenced[event_id] = datetime.max.replace(tzinfo=UTC)

    def hear(self, event_id: str) -> None:
        """Bring the writes to the event that come after this."""
        self._silenced[event_id] = datetime.now(UTC)

    def _is_heard(self, write: Announced) -> bool:
        until = self._silenced.get(write.event_id)
        return until is None or write.at > until

    async def _bring(self, write: Announced) -> None:
        for calls in itertools.count(1):
            if not self._is_heard(write) or await self._call(write) in SUCCESSES:
                return
            await asyncio.sleep(backoff(calls, MIN_BACKOFF))


def register(firestore: str, function: str, trigger: Mapping[str, Any]) -> None:
    """Have the emulator at `firestore`, a `host:port`, announce the writes of a trigger."""
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
