"""A Firestore write as a deployed trigger gets it."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from google.cloud import firestore
from google.events.cloud.firestore import DocumentEventData

from functions.ports import LOCATION


class FirestoreWrite:
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
        """Encode a write of the document at `path`. None means that the document is missing."""
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
            "ce-location": LOCATION,
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
