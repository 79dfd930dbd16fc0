"""An event and its photos, as the people see them who run it."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from google.cloud import firestore

from emulator.pictures import BUCKET
from tests.suite.console.conftest import Browser, Record


def test_an_evening_is_moderated(
    browser: Browser,
    admin: dict[str, str],
    moderator: dict[str, str],
    db: firestore.Client,
    event: firestore.DocumentReference,
    configure: Callable[..., None],
    record: Record,
) -> None:
    """Decisions by keyboard and by mouse are recorded as the rules want them."""
    # They take no event type, so that no delivery of the evening changes how they do.
    configure(
        *({"url": f"https://example.com/{name}", "events": []} for name in ("fails", "works"))
    )
    record("https://example.com/fails")
    record("https://example.com/works", outcome="success")
    now = datetime.now(UTC)
    for number in range(50):
        event.collection("photos").document(f"p{number}").set(
            photo(number, now - timedelta(minutes=60 - number))
        )
    new_id = f"{event.id}-new"
    seen = browser.make("photos", admin=admin, moderator=moderator, eventId=event.id, newId=new_id)

    photos = {photo.id: photo.to_dict() or {} for photo in event.collection("photos").get()}
    assert (seen["onTab"].split(), seen["shown"]) == (["Photos48+", "waiting"], 50)
    assert seen["title"] == "(48+) Photos · Event photo wall"
    assert seen["badges"][-1] == 48
    assert (seen["picture"], seen["typed"]) == ("http://127.0.0.1:9180/pictures/3.jpg", "")
    assert seen["question"] == "Approve 44 photos?"
    assert {photos[f"p{number}"]["status"] for number in range(6, 50)} == {"approved"}
    assert photos["p5"]["status"] == "pending"
    assert seen["notLoaded"] == "The picture does not load"
    assert seen["leftOut"].startswith("1 photo is left out")
    assert photos["meanwhile"]["status"] == "pending"
    assert (photos["p4"]["status"], seen["focused"]) == ("rejected", "p4")
    assert [photos[f"p{number}"]["status"] for number in (0, 1, 2)] == ["rejected"] * 3
    assert photos["p0"]["featured"]
    assert f"Approved, by {moderator['email']} ({photos['p0']['decidedByUid']})" in seen["decision"]
    assert {photos[photo]["rejectedBy"] for photo in ("p0", "p1", "p2")} == {moderator["email"]}
    assert [photos[photo]["reason"] for photo in ("p1", "p2")] == [None, "blurred"]
    assert "p3" not in photos
    assert seen["suggested"] == "anna-bjorn"
    assert seen["codes"] == ["Code: Upload photos", "Code: Look at the photos"]
    assert seen["links"] == ["https://example.com/upload", "https://example.com/gallery"]
    assert seen["onPaper"] == ["card way-in"]
    assert seen["taken"] == "There is an event with this id already; choose another."
    assert " ".join(seen["headline"].split()).startswith("Waiting 3 Approved 44 Rejected 4")
    assert seen["days"] == "Enter a whole number from 1 to 3,650, or leave it empty."
    assert "its receivers, their deliveries, links and the secret" in seen["goes"]
    assert not db.document("events", new_id).get().exists
    assert "3 waiting, 44 approved" in seen["counts"]


def test_no_photo_is_out_of_reach(
    browser: Browser,
    moderator: dict[str, str],
    db: firestore.Client,
    event: firestore.DocumentReference,
    configure: Callable[..., None],
) -> None:
    """Behind the longest list that the rules allow comes the next; a guest's photos are found."""
    configure()
    now = datetime.now(UTC)
    batch = db.batch()
    for number in range(485):
        approved = photo(number, now - timedelta(minutes=600 - number)) | {"status": "approved"}
        batch.set(event.collection("photos").document(f"p{number}"), approved)
    nadia = {"uploaderName": "Nadia", "uploaderEmail": "nadia@example.com"}
    for number in range(5):
        approved = photo(number, now - timedelta(minutes=number)) | {"status": "approved"}
        batch.set(event.collection("photos").document(f"n{number}"), approved | nadia)
    namesake = nadia | {"uploaderEmail": "another@example.com", "status": "approved"}
    batch.set(event.collection("photos").document("another"), photo(1, now) | namesake)
    batch.commit()
    seen = browser.make("crowd", moderator=moderator, eventId=event.id)

    rejected = event.collection("photos").where("status", "==", "rejected").get()
    assert {photo.id for photo in rejected} == {"p0", *(f"n{number}" for number in range(5))}
    assert seen["behind"] == 11
    assert seen["long"] < 2 * max(seen["short"], 16)  # a frame


def test_a_decision_is_of_the_photo_that_was_shown(
    browser: Browser,
    moderator: dict[str, str],
    event: firestore.DocumentReference,
    configure: Callable[..., None],
) -> None:
    """Nothing moves a photo, a second tap undoes nothing, and a photo says what became of it."""
    configure()
    now = datetime.now(UTC)
    for number in range(6):
        event.collection("photos").document(f"p{number}").set(
            photo(number, now - timedelta(minutes=60 - number))
        )
    swapped = {"url": f"{BUCKET}another.jpg", "createdAt": now.isoformat()}
    seen = browser.make("moving", moderator=moderator, eventId=event.id, swapped=swapped)

    photos = {
        photo.id: (photo.to_dict() or {})["status"] for photo in event.collection("photos").get()
    }
    assert seen["moved"] == 0
    assert seen["order"] == [*(f"Guest {number}" for number in range(6)), "Late 1"]
    assert photos == {
        "p0": "rejected",
        "p1": "approved",
        "p2": "pending",
        "p3": "rejected",
        "p4": "rejected",
        "p5": "pending",
        "late-1": "pending",
        "late-2": "pending",
    }
    assert seen["elsewhere"] == "Rejected by colleague@example.com"
    assert "Rejected, by colleague@example.com" in seen["dialog"]
    replaced = "This photo was replaced by another one meanwhile. Look at it again."
    assert seen["swapped"] == f"Photo of Guest 2: {replaced}"
    assert seen["refused"] == "2 decisions were refused. Each photo says why."
    assert seen["onTile"] == replaced
    assert seen["barHeight"] < 0.3 * 844


def test_a_decision_is_kept_until_the_server_has_confirmed_it(
    browser: Browser,
    moderator: dict[str, str],
    event: firestore.DocumentReference,
    configure: Callable[..., None],
) -> None:
    """Without an answer it is marked, told, asked about before the page closes, and sent again.

    What arrives twice is carried out once, and called carried out.

    It can be undone an hour later, when the page has another ID token.
    """
    configure()
    event.collection("photos").document("p0").set(photo(0, datetime.now(UTC)))
    seen = browser.make("unconfirmed", moderator=moderator, eventId=event.id)

    kept = "1 decision is not confirmed yet, and kept here: leave this page open."
    assert seen["told"].startswith(kept)
    assert seen["asked"] == "beforeunload"
    assert seen["refused"] == []
    assert seen["ended"].startswith("Your session has ended.")
    assert "Approve: photo of Guest 0" in seen["ended"]
    after = event.collection("photos").document("p0").get().to_dict() or {}
    assert (after["status"], after["approvedBy"]) == ("rejected", moderator["email"])


def photo(number: int, created: datetime) -> dict[str, Any]:
    """A waiting photo of a guest of that number."""
    return {
        "status": "pending",
        "url": f"{BUCKET}{number}.jpg",
        "uploaderName": f"Guest {number}",
        "uploaderEmail": f"guest-{number}@example.com",
        "uploaderUid": "guest",
        "createdAt": created,
    }
