"""`APP_NAMES`: an app whose photos stand at `weddings/{id}/pictures`, and are `visible`."""

import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import pytest
from google.cloud import firestore

from emulator.mailbox import Mailbox
from emulator.people import sign_in
from emulator.receiver import always
from tests.suite.call import call
from tests.suite.process import FunctionProcess, Written
from tests.suite.webhooks.conftest import Deliveries

APP_NAMES: Final = (
    "events=weddings,photos=pictures,event.tenantId=owner,event.name=title,event.status=state,"
    "event.status.published=live,photo.url=image,photo.uploaderEmail=guestMail,"
    "photo.createdAt=takenAt,photo.status.pending=new,photo.status.approved=visible"
)
FUNCTIONS: Final = {"onPhotoWritten": True, "onEventWritten": True, "sendEventRecap": False}
NOW: Final = datetime.now(UTC).replace(microsecond=0)
ISO: Final = NOW.strftime("%Y-%m-%dT%H:%M:%S.000Z")
IMAGE: Final = "https://example.com/cake.jpg"


@pytest.fixture(scope="module")
def mailbox() -> Iterator[Mailbox]:
    """A mailbox of this test alone."""
    with Mailbox() as box:
        yield box


@pytest.fixture(scope="module")
def functions(mailbox: Mailbox) -> Iterator[dict[str, FunctionProcess]]:
    """The functions, as a deploy with the app's names has them."""
    environment: dict[str, Any] = {"APP_NAMES": APP_NAMES, "SENDGRID_HOST": mailbox.url}

    def start(name: str) -> FunctionProcess:
        return FunctionProcess(name, event=FUNCTIONS[name], **environment)

    with ThreadPoolExecutor() as threads, ExitStack() as running:
        started = [running.enter_context(process) for process in threads.map(start, FUNCTIONS)]
        yield dict(zip(FUNCTIONS, started, strict=True))


def test_a_wedding_app(
    db: firestore.Client,
    event: firestore.DocumentReference,
    functions: dict[str, FunctionProcess],
    receiving: Callable[..., Any],
    deliveries: Deliveries,
    mailbox: Mailbox,
) -> None:
    """Its photos are uploaded, moderated, counted, mailed; its guests join; it is deleted."""
    tenant, guest, other = uuid.uuid4().hex, f"{uuid.uuid4().hex}@example.com", "bob@example.com"
    wedding = db.collection("weddings").document(event.id)
    picture = wedding.collection("pictures").document("p100")

    def write(trigger: str, document: Any, after: Any, before: Any = None) -> None:
        if after:
            document.set(after)
        else:
            document.delete()
        write_id = uuid.uuid4().hex
        written = Written(db, document.path, event_id=write_id, before=before, after=after)
        assert functions[trigger].written(written) == 200

    uploaded = {
        "status": "new",
        "image": IMAGE,
        "url": "https://example.com/not-this.jpg",
        "uploaderName": "Ann",
        "guestMail": guest,
        "takenAt": NOW,
    }
    approved = uploaded | {"status": "visible", "approvedAt": NOW, "approvedBy": "m@example.com"}
    others = db.batch()
    before = {"takenAt": NOW - timedelta(minutes=1), "guestMail": other}
    for number in range(99):
        others.set(wedding.collection("pictures").document(f"p{number}"), before)
    others.commit()
    live = {"owner": tenant, "title": "Ann & Bob", "state": "live", "publishedAt": NOW}
    with receiving({"/hook": always()}) as receiver:
        event.collection("settings").document("webhooks").set({"urls": [receiver.url("/hook")]})
        write("onEventWritten", wedding, live)
        write("onPhotoWritten", picture, uploaded)
        write("onPhotoWritten", picture, approved, before=uploaded)
        # By a guest who has joined before.
        again = uploaded | {"guestMail": other}
        write("onPhotoWritten", wedding.collection("pictures").document("p101"), again)
        assert len(deliveries.ended(6)) == 6
        bodies = [request.json() for request in receiver.requests]
    assert {body["eventId"] for body in bodies} == {event.id}
    [second] = [body for body in bodies if "p101" in str(body["data"])]
    assert second["event"] == "photo.uploaded"
    bodies.remove(second)
    photo = {"id": "p100", "url": IMAGE, "uploaderName": "Ann"}
    by_moderator = {"approvedAt": ISO, "approvedBy": "m@example.com"}
    reached = next(body["data"]["reachedAt"] for body in bodies if "reachedAt" in body["data"])
    assert {body["event"]: body["data"] for body in bodies} == {
        "event.published": {
            "eventName": "Ann & Bob",
            "template": None,
            "publishedAt": ISO,
            "galleryUrl": None,
        },
        "photo.uploaded": {
            "photo": photo | {"status": "pending", "uploaderEmail": guest, "createdAt": ISO}
        },
        "photo.approved": {"photo": photo | {"status": "approved"} | by_moderator},
        "milestone.reached": {
            "milestone": 100,
            "reachedAt": reached,
            "latestPhoto": {"id": "p100", "uploaderName": "Ann"},
        },
        "guest.joined": {
            "uploaderName": "Ann",
            "uploaderEmail": guest,
            "firstPhotoId": "p100",
            "joinedAt": ISO,
        },
    }
    assert event.collection("wall").document("p100").get().get("url") == IMAGE

    answer = call(
        "",
        {"eventId": event.id},
        id_token=sign_in("admin", tenant).id_token,
        at=f"http://127.0.0.1:{functions['sendEventRecap'].port}/",
    )
    assert answer.result == {"sent": 1, "skipped": 0}
    [mail] = mailbox.mails
    assert (mail.to, mail.subject) == (guest, "Your photos from Ann & Bob")
    assert IMAGE in mail.html
    assert "not-this" not in mail.html

    write("onEventWritten", wedding, None, before=live)
    assert not list(event.collections()), "the service's records are gone"
    assert picture.get().exists, "the app's documents stay"
