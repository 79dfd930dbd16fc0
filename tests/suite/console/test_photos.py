"""An event and its photos, as the people see them who run it."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from google.cloud import firestore

from tests.suite.console.conftest import TENANT, Browser, Record


def test_an_evening_is_moderated(
    browser: Browser,
    admin: dict[str, str],
    moderator: dict[str, str],
    db: firestore.Client,
    event: firestore.DocumentReference,
    configure: Callable[..., None],
    record: Record,
) -> None:
    """By keyboard and by mouse, in pages; what is decided is on record as the rules want it."""
    configure("https://example.com/fails", "https://example.com/works")
    record("https://example.com/fails")
    record("https://example.com/works", outcome="success")
    now = datetime.now(UTC)
    for number in range(30):
        event.collection("photos").document(f"p{number}").set(
            {
                "status": "pending",
                "url": f"https://photos.example.com/{number}.jpg",
                "uploaderName": f"Guest {number}",
                "uploaderEmail": f"guest-{number}@example.com",
                "uploaderUid": "guest",
                "createdAt": now - timedelta(minutes=number),
            }
        )
    new_id = f"{event.id}-new"
    seen = browser.make("photos", admin=admin, moderator=moderator, eventId=event.id, newId=new_id)

    photos = {photo.id: photo.to_dict() or {} for photo in event.collection("photos").get()}
    assert seen["onSecondPage"] == 6
    assert [photos[f"p{number}"]["status"] for number in (0, 1, 2)] == ["rejected"] * 3
    assert photos["p0"]["featured"]
    assert {photos[photo]["rejectedBy"] for photo in ("p0", "p1", "p2")} == {moderator["email"]}
    assert [photos[photo]["reason"] for photo in ("p1", "p2")] == [None, "blurred"]
    assert "p3" not in photos
    assert seen["suggested"] == "anna-bjorn"
    assert seen["taken"] == "There is an event with this id already; choose another."
    made = db.document("events", new_id).get().to_dict() or {}
    assert (made["tenantId"], made["status"]) == (TENANT, "archived")
    assert made["publishedAt"] < made["archivedAt"]
    tiles = " ".join(" ".join(seen["tiles"]).split())
    assert "Waiting 26" in tiles
    assert "1 of 2 1 receiver does not take what is sent." in tiles
    db.document("events", new_id).delete()
