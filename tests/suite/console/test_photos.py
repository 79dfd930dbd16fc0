"""An event and its photos, as the people see them who run it."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from emulator.pictures import BUCKET
from tests.suite.console.conftest import Browser, Login
from tests.suite.wall_client import Wall

Upload = Callable[..., None]


@pytest.fixture
def upload(wall: Wall) -> Upload:
    """Write so many waiting photos, a minute apart, each of another guest."""

    def write(number_of_photos: int, prefix: str = "p", **fields: Any) -> None:
        batch = wall.db.batch()
        for number in range(number_of_photos):
            photo = {
                "status": "pending",
                "url": f"{BUCKET}{number}.jpg",
                "uploaderName": f"Guest {number}",
                "uploaderEmail": f"guest-{number}@example.com",
                "uploaderUid": "guest",
                "createdAt": datetime.now(UTC) - timedelta(minutes=number_of_photos - number),
            }
            batch.set(wall.event.collection("photos").document(f"{prefix}{number}"), photo | fields)
        batch.commit()

    return write


def test_an_evening_is_moderated(
    browser: Browser,
    admin: Login,
    moderator: Login,
    wall: Wall,
    upload: Upload,
) -> None:
    """Decisions by keyboard and by mouse are recorded as the rules want them."""
    # They subscribe to no event type, so that no delivery of the evening changes their state.
    wall.configure(
        *({"url": f"https://example.com/{name}", "events": []} for name in ("fails", "works"))
    )
    wall.record("https://example.com/fails")
    wall.record("https://example.com/works", outcome="success")
    upload(50)
    new_id = f"{wall.id}-new"
    seen = browser.make("photos", admin=admin, moderator=moderator, eventId=wall.id, newId=new_id)

    photos = {photo.id: photo.to_dict() or {} for photo in wall.event.collection("photos").get()}
    assert (seen["onTab"].split(), seen["shown"]) == (["Photos", "50", "pending"], 50)
    assert seen["title"] == "(50) Photos · Event photo wall"
    assert seen["badges"][-1] == 50
    assert (seen["picture"], seen["typed"]) == ("http://127.0.0.1:9180/pictures/3.jpg", "")
    assert seen["question"] == "Approve 44 photos?"
    assert {photos[f"p{number}"]["status"] for number in range(6, 50)} == {"approved"}
    assert photos["p5"]["status"] == "pending"
    assert seen["notLoaded"] == "Couldn't load this image"
    assert seen["leftOut"].startswith("1 photo you haven't seen yet")
    assert photos["meanwhile"]["status"] == "pending"
    assert (photos["p4"]["status"], seen["focused"]) == ("rejected", "p4")
    assert [photos[f"p{number}"]["status"] for number in (0, 1, 2)] == ["rejected"] * 3
    assert photos["p0"]["featured"]
    assert f"Approved, by {moderator['email']}" in seen["decision"]
    assert {photos[photo]["rejectedBy"] for photo in ("p0", "p1", "p2")} == {moderator["email"]}
    assert [photos[photo]["reason"] for photo in ("p1", "p2")] == [None, "blurred"]
    assert "p3" not in photos
    assert seen["suggested"] == "anna-bjorn"
    assert seen["codes"] == ["QR code: Upload photos", "QR code: View photos"]
    assert seen["links"] == ["https://example.com/upload", "https://example.com/gallery"]
    assert seen["drawn"] == [True, True]
    assert seen["onPaper"] == ["card way-in"]
    assert seen["taken"] == "There is an event with this id already; choose another."
    assert " ".join(seen["headline"].split()).startswith("Pending 3 Approved 44 Rejected 4")
    assert seen["days"] == "Enter a number from 1 to 3,650, or leave it empty."
    assert "webhooks, their deliveries, shared logs and the secret" in seen["goes"]
    assert not wall.db.document("events", new_id).get().exists
    assert "3 pending, 44 approved" in seen["counts"]


def test_a_backlog_is_counted_again_while_it_grows(
    browser: Browser, moderator: Login, wall: Wall, upload: Upload
) -> None:
    """A listener reports only the photos that it lists, and the tab has the number of all."""
    wall.configure()
    upload(60)
    assert browser.make("backlog", moderator=moderator, eventId=wall.id).startswith("Photos")


def test_every_photo_can_be_reached(
    browser: Browser, moderator: Login, wall: Wall, upload: Upload
) -> None:
    """The longest list that the rules allow has a next page. Search finds a guest's photos."""
    wall.configure()
    nadia = {"uploaderName": "Nadia", "status": "approved"}
    upload(485, status="approved")
    upload(5, "n", uploaderEmail="nadia@example.com", **nadia)
    upload(1, "another", uploaderEmail="another@example.com", **nadia)
    seen = browser.make("crowd", moderator=moderator, eventId=wall.id)

    rejected = wall.event.collection("photos").where("status", "==", "rejected").get()
    assert {photo.id for photo in rejected} == {"p0", *(f"n{number}" for number in range(5))}
    assert seen["behind"] == 11
    assert seen["emptyBars"] == 0
    assert seen["covered"] <= 0
    assert seen["long"] < 2 * max(seen["short"], 16)  # a frame


def test_a_decision_applies_to_the_shown_photo(
    browser: Browser, moderator: Login, wall: Wall, upload: Upload
) -> None:
    """Nothing moves a photo, a second tap undoes nothing, and a photo says what became of it."""
    wall.configure()
    upload(6)
    swapped = {"url": f"{BUCKET}another.jpg", "createdAt": datetime.now(UTC).isoformat()}
    seen = browser.make("moving", moderator=moderator, eventId=wall.id, swapped=swapped)

    photos = {photo.id: photo.get("status") for photo in wall.event.collection("photos").get()}
    assert (seen["moved"], seen["offline"]) == (0, 0)
    assert seen["first"] < 200  # of 844: on a phone the photos come first
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
    assert not seen["cut"]
    assert seen["elsewhere"] == "Rejected by colleague@example.com"
    assert "Rejected, by colleague@example.com" in seen["dialog"]
    replaced = "This photo has changed. Please review it again."
    assert seen["swapped"] == f"Photo by Guest 2: {replaced}"
    assert seen["refused"] == "2 changes couldn't be saved. See each photo for details."
    assert seen["onTile"] == replaced
    assert seen["green"] == ["Approved by you"]
    assert seen["barHeight"] < 0.3 * 844
    assert seen["top"] == 0


def test_a_decision_is_kept_until_the_server_has_confirmed_it(
    browser: Browser, moderator: Login, wall: Wall, upload: Upload
) -> None:
    """Without a response the decision is marked, shown, confirmed before leaving, and repeated.

    A repeated decision has one effect. It can be undone an hour later with a new ID token.
    """
    wall.configure()
    upload(1)
    seen = browser.make("unconfirmed", moderator=moderator, eventId=wall.id)

    kept = "1 change hasn't been saved yet."
    assert seen["told"].startswith(kept)
    assert seen["asked"] == "beforeunload"
    assert seen["refused"] == []
    assert seen["ended"].startswith("Your session expired.")
    assert "Approve: photo by Guest 0" in seen["ended"]
    after = wall.event.collection("photos").document("p0").get().to_dict() or {}
    assert (after["status"], after["approvedBy"]) == ("rejected", moderator["email"])


def test_all_photos_are_approved_on_a_slow_line(
    browser: Browser, moderator: Login, wall: Wall, upload: Upload
) -> None:
    """150 photos take few requests, and the page confirms them soon after the server has them."""
    wall.configure()
    upload(150)
    seen = browser.make("slow_line", moderator=moderator, eventId=wall.id, photos=150)

    photos = [photo.to_dict() or {} for photo in wall.event.collection("photos").get()]
    assert {photo["status"] for photo in photos} == {"approved"}
    assert seen["requests"] <= 40
    last = max(photo["approvedAt"] for photo in photos)
    assert datetime.fromisoformat(seen["confirmedAt"]) - last <= timedelta(seconds=30)


def test_a_failed_approval_does_not_stop_the_others(
    browser: Browser, moderator: Login, wall: Wall, upload: Upload
) -> None:
    """A commit that the rules refuse is split until only the refused photo is left."""
    wall.configure()
    upload(6)
    seen = browser.make(
        "refusal", refusals=None, moderator=moderator, eventId=wall.id, refused="p3"
    )

    photos = {photo.id: photo.get("status") for photo in wall.event.collection("photos").get()}
    assert [photo for photo, status in photos.items() if status == "pending"] == ["p3"]
    assert seen == {"refused": 1, "sizes": [6, 3, 2, 1]}
