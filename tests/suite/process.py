"""A Firestore event as a deployed trigger gets it, and the switch of the suite's own triggers.

The test is the front end of the processes that it starts, and so decides what is dispatched, how
often, and what a process can reach.
"""

import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any, Final

from google.cloud import firestore
from google.events.cloud.firestore import DocumentEventData

from emulator.cloud.environment import parameters
from emulator.cloud.front import SILENCE
from emulator.cloud.function_process import FunctionProcess
from emulator.firebase import read_addresses

__all__ = ["FunctionProcess", "Written", "local_parameters", "silenced"]

_FRONT: Final = f"http://{read_addresses()['functions']}"
_CALL_SECONDS: Final = 10


class Written:
    """A CloudEvent `google.cloud.firestore.document.v1.written`, in Eventarc's binary form."""

    def __init__(
        self,
        db: firestore.Client,
        path: str,
        *,
        event_id: str,
        before: dict[str, Any] | None = None,
        after: dict[str, Any] | None = None,
    ) -> None:
        """A write of the document at `path`; None stands for no document."""
        now = self.written_at = datetime.now(UTC)
        name = f"projects/{db.project}/databases/(default)/documents/{path}"
        data = DocumentEventData()
        for field, fields in (("value", after), ("old_value", before)):
            if fields is not None:
                setattr(
                    data,
                    field,
                    {
                        "name": name,
                        "fields": _encoded(fields),
                        "create_time": now,
                        "update_time": now,
                    },
                )
        self.body: bytes = DocumentEventData.serialize(data)
        self.headers = {
            "Content-Type": "application/protobuf",
            "ce-id": event_id,
            "ce-specversion": "1.0",
            "ce-type": "google.cloud.firestore.document.v1.written",
            "ce-source": f"//firestore.googleapis.com/projects/{db.project}/databases/(default)",
            "ce-subject": f"documents/{path}",
            "ce-time": now.isoformat().replace("+00:00", "Z"),
            "ce-location": "us-central1",
            "ce-project": db.project,
            "ce-database": "(default)",
            "ce-namespace": "(default)",
            "ce-document": path,
        }


def _encoded(fields: dict[str, Any]) -> dict[str, Any]:
    encoders: dict[type, Callable[[Any], dict[str, Any]]] = {
        str: lambda value: {"string_value": value},
        datetime: lambda value: {"timestamp_value": value},
        type(None): lambda _: {"null_value": 0},
        bool: lambda value: {"boolean_value": value},
    }
    return {name: encoders[type(value)](value) for name, value in fields.items()}


def local_parameters() -> dict[str, str]:
    """What makes the parts of the service work in the test's own process."""
    return parameters() | {"FUNCTIONS_EMULATOR": "true"}


@contextmanager
def silenced(event_id: str) -> Iterator[None]:
    """Write to an event, and below it, without the suite's own triggers noticing."""
    _front("PUT", event_id)
    try:
        yield
    finally:
        _front("DELETE", event_id)


def _front(method: str, event_id: str) -> None:
    request = urllib.request.Request(f"{_FRONT}{SILENCE}{event_id}", method=method)  # noqa: S310
    with urllib.request.urlopen(request, timeout=_CALL_SECONDS):  # noqa: S310 - loopback
        pass
