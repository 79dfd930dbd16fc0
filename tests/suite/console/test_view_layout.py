"""Every view in three widths and both color schemes. `--all` writes pictures of them."""

import os
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from emulator.accounts import Account, call, sign_in
from emulator.pictures import BUCKET
from functions.recap.recap_arguments import Mode
from functions.webhooks.webhook_settings import endpoint_id
from tests.suite.console.conftest import TENANT, Browser, Login
from tests.suite.wall_client import Wall
from tests.unit.mail.pseudo import pseudo_mail
from tools.command_list import ALL_VARIABLE

URL = "https://hooks.example.com/wall/in?key=1"
DEAD = "https://receiver.example.org:8443/a/rather/long/path/to/where/it/all/goes"
NAMES = ("Ann Andersson", "Bartholomew the Third of Somewhere", "", "Eve")


def test_every_view_fits_every_window_and_is_accessible(
    browser: Browser, superadmin: Login, admin: Login, wall: Wall, tmp_path: Path
) -> None:
    """Nothing is wider than the window, from a narrow phone on, and axe finds nothing at all."""
    now = datetime.now(UTC)
    folder = str(tmp_path) if ALL_VARIABLE in os.environ else ""
    given_up = {"url": DEAD, "reason": "100 or more consecutive deliveries failed", "at": now}
    wall.configure(
        {"url": URL, "events": ["photo.uploaded", "guest.joined"]},
        DEAD,
        disabled={endpoint_id(DEAD): given_up},
        notify=["ann@example.com"],
        labels={URL: "Screen in the hall"},
    )
    fill(wall, now)
    failed = {"at": now, "status": None, "ms": 5000, "error": "no answer within 5 s"}
    open_ = wall.record(
        URL,
        outcome="retrying",
        attempts=2,
        endedAt=None,
        nextAttemptAt=now + timedelta(minutes=30),
        minutes_ago=1,
        log=[failed | {"attempt": 1, "status": 503, "error": None}, failed | {"attempt": 2}],
    )
    link = share(wall.id)

    place = f"#/events/{wall.id}"
    views = [
        view("events", "#/events", wall.id),
        view("receivers", f"{place}/receivers", "Live"),
        view("delivery", f"{place}/deliveries/{open_}", "Attempts"),
        view("nothing", f"{place}/receivers?type=event.archived", "No matching deliveries"),
        view("receiver", f"{place}/receivers/{endpoint_id(DEAD)}", "Disabled", "Reveal"),
        view("test", f"{place}/receivers/{endpoint_id(URL)}", "Screen in the hall", "Send test…"),
        view("recap", f"{place}/recap", "Interrupted"),
    ]
    missing = {
        f"{place}/receivers/none": "Endpoint not found",
        f"{place}/deliveries/none": "Delivery not found",
        "#/events/none": "Event not found",
    }
    views += [view(title, at, title) for at, title in missing.items()]
    found = browser.make("looks", staff=superadmin, views=views, link=link, folder=folder)

    other = replace(wall, event=wall.event.parent.document(f"{wall.id}-photos"))
    upload(other, now)
    photos = f"#/events/{other.id}/photos"
    own = [
        view("overview", f"{place}/overview", "1 of 2 failing"),
        view("photos", photos, "Ann Andersson"),
        view("approved", f"{photos}/approved", "Highlight"),
        view("photo", photos, "Ann Andersson", "View photo"),
        view("new-event", "#/events", wall.id, "New event"),
        view("way-in", f"#/events/{other.id}", "Upload photos"),
        view("decided", photos, "Ann Andersson", "Approve", "Reject"),
    ]
    found += browser.make("looks", staff=admin, views=own, link="", folder=folder)

    assert found == []


def view(name: str, place: str, shown: str, *press: str) -> dict[str, Any]:
    """Open the view, wait for the text, and press the buttons."""
    return {"name": name, "place": place, "shown": shown, "press": press}


def fill(wall: Wall, now: datetime) -> None:
    """Write deliveries of every outcome, a secret, and an interrupted recap."""
    good = {"attempt": 1, "status": 200, "ms": 48, "error": None}
    for minutes in (3, 7, 90):
        at = now - timedelta(minutes=minutes)
        wall.record(
            URL, outcome="success", attempts=1, log=[good | {"at": at}], minutes_ago=minutes
        )
    wall.record(URL, minutes_ago=8, event="guest.joined")
    wall.record(DEAD, minutes_ago=12)
    wall.record(
        DEAD, outcome="skipped", attempts=0, log=[], reason="the URL is disabled", test=True
    )
    wall.event.collection("secrets").document("webhooks").set(
        {
            "secret": "whsec_" + "a" * 43,
            "next": {"secret": "whsec_" + "b" * 43, "activeFrom": now + timedelta(hours=20)},
        }
    )
    wall.event.collection("recaps").document("r1").set(
        {
            "mode": "personal",
            "state": "interrupted",
            "startedAt": now - timedelta(minutes=2),
            "finishedAt": now,
            "recipients": 4200,
            "sent": 3000,
            "unknown": 12,
            "skipped": 41,
            "left": 1200,
            "delivered": 2950,
            "bounced": 30,
            "dropped": 8,
            "complained": 1,
        }
    )


def upload(wall: Wall, now: datetime) -> None:
    """Upload photos to an event without endpoints."""
    wall.publish(name="Midsummer", uploadUrl="https://example.com/midsummer/upload")
    for number in range(14):
        status = "approved" if number % 3 == 0 else "pending"
        photo = {
            "status": status,
            "url": f"{BUCKET}{number}.jpg",
            "uploaderName": NAMES[number % len(NAMES)],
            "uploaderEmail": f"guest-{number}@example.com",
            "uploaderUid": "guest",
            "featured": number == 3,
            "createdAt": now - timedelta(minutes=number),
        }
        wall.event.collection("photos").document(f"p{number}").set(photo)


def share(event_id: str) -> str:
    """Create a valid link to the deliveries of the URL."""
    admin: Account = sign_in("admin", TENANT)
    link: str = call("shareWebhookLog", {"eventId": event_id, "url": URL}, admin)["result"]["link"]
    return link


def test_long_texts_fit_and_every_text_is_translated(browser: Browser) -> None:
    """Mail and preferences page, in a language half as long again as English."""
    mail = pseudo_mail(Mode.PERSONAL, "@words@")
    _, html = mail.render(mail.copies[0])

    assert browser.make("pseudo", html=html) == {"tooWide": [0] * 6, "english": ""}
