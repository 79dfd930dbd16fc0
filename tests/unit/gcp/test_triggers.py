"""Design 2 and 5: what a trigger gets of a write, and what an event costs but for its handler."""

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
    """A write of the photo."""
    credentials = AnonymousCredentials()  # type: ignore[no-untyped-call]
    client = firestore.Client(project=PROJECT, credentials=credentials)
    return FirestoreWrite(client, PHOTO, event_id="w1", before=before, after=after)


@pytest.mark.parametrize(
    ("before", "after"), [(None, FIELDS), (FIELDS, FIELDS | {"featured": False}), (FIELDS, None)]
)
def test_what_a_trigger_gets(before: dict[str, Any] | None, after: dict[str, Any] | None) -> None:
    """A trigger gets the document before and after the write; None where it was missing."""
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


def test_one_client_serves_all_events() -> None:
    """After the first event nobody is asked for credentials: a refusal fails no event."""
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
    assert asked > 0, "else the function has not looked there"


def test_an_event_may_be_as_long_as_two_documents() -> None:
    """Eventarc sends the document before and after the write, each of up to a megabyte."""
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
def test_a_task_that_is_no_fault_of_ours_is_logged_as_none(
    error: Exception, code: FunctionsErrorCode, capfd: pytest.CaptureFixture[str]
) -> None:
    """Design 2: too early is sent back, and not as `unavailable`, which throttles a queue."""
    with pytest.raises(HttpsError) as answered, retry_on_error("not.done"):
        raise error
    assert answered.value.code is code
    assert not capfd.readouterr().out


def test_a_fault_is_logged_without_its_text(capfd: pytest.CaptureFixture[str]) -> None:
    """The text may hold personal data; Eventarc or the queue runs it again."""
    with pytest.raises(InternalServerError), retry_on_error("not.done"):
        raise KeyError("ann@example.com")
    logged = capfd.readouterr().out
    assert "not.done" in logged
    assert "ann@" not in logged
