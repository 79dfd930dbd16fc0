"""Design 2 and 5: the write that a trigger gets, its errors and its costs."""

from datetime import UTC, datetime
from typing import Any, Final

import pytest
from cloudevents.http import from_http
from firebase_functions import firestore_fn
from firebase_functions.https_fn import FunctionsErrorCode, HttpsError
from google.auth.credentials import AnonymousCredentials
from google.cloud import firestore
from werkzeug.exceptions import InternalServerError

from emulator.firebase import PROJECT
from functions.gcp.triggers import DocumentWritten, retry_on_error, trigger
from functions.ports import MalformedTaskError, NotDueError
from tests.suite.metadata_server import MetadataServer
from tests.suite.process import FirestoreWrite, FunctionProcess

PHOTO: Final = "events/e1/photos/größe"
PATTERN: Final = "events/{eventId}/photos/{photoId}"
FIELDS: Final[dict[str, Any]] = {
    "url": "https://example.com/ü.jpg",
    "featured": True,
    "uploaderEmail": None,
    "createdAt": datetime(2026, 8, 1, 12, 30, 0, 123456, tzinfo=UTC),
}
EVENTS: Final = 40


def write(before: dict[str, Any] | None, after: dict[str, Any] | None) -> FirestoreWrite:
    """Return a write of the photo."""
    credentials = AnonymousCredentials()  # type: ignore[no-untyped-call]
    client = firestore.Client(project=PROJECT, credentials=credentials)
    return FirestoreWrite(client, PHOTO, event_id="w1", before=before, after=after)


@pytest.mark.parametrize(
    ("before", "after"), [(None, FIELDS), (FIELDS, FIELDS | {"featured": False}), (FIELDS, None)]
)
def test_a_trigger_gets_the_document_before_and_after_the_write(
    before: dict[str, Any] | None, after: dict[str, Any] | None
) -> None:
    """A missing document is None."""
    got: list[DocumentWritten] = []

    def take(event: Any) -> None:
        got.append(event)

    served = trigger(firestore_fn.on_document_written(document=PATTERN)(take))
    sent = write(before, after)
    served(from_http(sent.headers, sent.body))
    [written] = got
    assert (written.id, written.ids) == ("w1", {"eventId": "e1", "photoId": "größe"})
    assert (written.before and written.before.fields) == before
    assert (written.after and written.after.fields) == after
    snapshot = written.after or written.before
    assert snapshot
    assert snapshot.created == snapshot.written == written.at == sent.written_at


def test_one_client_serves_all_writes() -> None:
    """After the first write no credentials are requested, so an error there has no effect."""
    edit = write(FIELDS, FIELDS | {"featured": False})
    with (
        MetadataServer() as metadata,
        FunctionProcess("onPhotoWritten", is_trigger=True, **metadata.environment) as function,
    ):
        assert function.send_write(edit) == 200
        asked = metadata.requests
        metadata.refusing = True
        assert [function.send_write(edit) for _ in range(EVENTS)] == [200] * EVENTS
        assert metadata.requests == asked
    assert asked > 0, "the function has requested credentials"


def test_a_write_can_have_two_documents_of_a_megabyte() -> None:
    """Eventarc sends the document before and after the write."""
    long = FIELDS | {"uploaderName": "x" * 1_000_000}
    with MetadataServer() as metadata:
        process = FunctionProcess("onPhotoWritten", is_trigger=True, **metadata.environment)
        with process as function:
            assert function.send_write(write(long, long | {"featured": False})) == 200


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (NotDueError(), FunctionsErrorCode.ABORTED),
        (MalformedTaskError("no"), FunctionsErrorCode.INVALID_ARGUMENT),
    ],
)
def test_an_early_or_malformed_task_is_not_logged_as_an_error(
    error: Exception, code: FunctionsErrorCode, capfd: pytest.CaptureFixture[str]
) -> None:
    """Design 2: an early task gets `aborted`, as `unavailable` would throttle the queue."""
    with pytest.raises(HttpsError) as answered, retry_on_error("not.done"):
        raise error
    assert answered.value.code is code
    assert not capfd.readouterr().out


def test_a_fault_is_logged_without_its_text(capfd: pytest.CaptureFixture[str]) -> None:
    """The text can contain personal data. Eventarc or the queue repeats the call."""
    with pytest.raises(InternalServerError), retry_on_error("not.done"):
        raise KeyError("ann@example.com")
    logged = capfd.readouterr().out
    assert "not.done" in logged
    assert "ann@" not in logged
