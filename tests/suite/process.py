"""A Firestore event as a deployed trigger gets it, and the switch of the suite's own triggers.

The test is the front end of the processes that it starts, and so decides what is dispatched, how
often, and what a process can reach.
"""

import contextlib
import os
import urllib.request
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from google.cloud import firestore
from google.events.cloud.firestore import DocumentEventData

from emulator.cloud.environment import parameters
from emulator.cloud.function_process import FunctionProcess

__all__ = ["FunctionProcess", "Written", "background_triggers_off", "local_parameters"]

ROOT: Final = Path(__file__).parents[2]
_FLUSH_SECONDS: Final = 300
"""The hub answers when all triggers that were due have run, one process after the other."""


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


@contextlib.contextmanager
def background_triggers_off() -> Iterator[None]:
    """Write to Firestore without the suite's own triggers noticing."""
    _hub("disableBackgroundTriggers")
    try:
        yield
    finally:
        _hub("enableBackgroundTriggers")


def _hub(method: str) -> None:
    url = f"http://{os.environ['FIREBASE_EMULATOR_HUB']}/functions/{method}"
    request = urllib.request.Request(url, method="PUT")
    with urllib.request.urlopen(request, timeout=_FLUSH_SECONDS):  # noqa: S310 - likewise
        pass
