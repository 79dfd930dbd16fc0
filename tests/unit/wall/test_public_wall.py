"""The copy of a photo for guests follows the photo as it is now."""

import inspect
from typing import Any

import pytest

import main
from functions.firestore.model import Delete, Put, Update
from functions.wall import public_wall
from tests.in_memory.documents import InMemoryDocuments

PHOTO = "events/e1/photos/p1"
COPY = "events/e1/wall/p1"


def test_a_copy_comes_and_goes_with_the_approval() -> None:
    """A trigger that runs late copies the photo as it is now."""
    documents = InMemoryDocuments()
    approved = {"status": "approved", "url": "https://example.com/1.jpg", "uploaderName": "Ann"}
    documents.commit(Put(PHOTO, approved | {"uploaderEmail": "ann@example.com"}))
    public_wall.copy(documents, "e1", "p1")
    found = documents.get(COPY)
    assert found is not None
    assert (found.fields["url"], found.fields["uploaderName"]) == (approved["url"], "Ann")
    assert "uploaderEmail" not in found.fields
    for write in (Update(PHOTO, {"status": "rejected"}), Delete(PHOTO)):
        documents.commit(Put(COPY, {"url": "late"}), write)
        public_wall.copy(documents, "e1", "p1")
        assert documents.get(COPY) is None


@pytest.mark.parametrize("fails", ["wall", "webhooks"])
@pytest.mark.parametrize("trigger", ["photo_written", "event_written"])
def test_a_fault_of_the_webhooks_keeps_no_photo_on_the_wall(
    monkeypatch: pytest.MonkeyPatch, trigger: str, fails: str
) -> None:
    """Both are done, the wall first, and then the trigger fails, to be run again."""
    done = []

    def handler_of(room: str) -> Any:
        def handler(*_: Any, **__: Any) -> None:
            done.append(room)
            if room == fails:
                raise ConnectionError(room)

        return handler

    monkeypatch.setattr("main.service", lambda: None)
    for room, module in (("wall", "wall.wall_triggers"), ("webhooks", "webhooks.webhook_triggers")):
        monkeypatch.setattr(f"functions.{module}.{trigger}", handler_of(room))
    function = {"photo_written": main.onPhotoWritten, "event_written": main.onEventWritten}[trigger]
    with pytest.raises(ConnectionError, match=fails):
        inspect.unwrap(function)(None)
    assert done == ["wall", "webhooks"]
