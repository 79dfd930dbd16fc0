"""Each role sees its own views, and no input is executed."""

import json
from datetime import UTC, datetime

from tests.suite.console.conftest import SITE, Browser, Login
from tests.suite.wall_client import Wall

MARKUP = "<img src=x onerror=alert(1)><script>alert(2)</script><b>bold</b>"
TURNED = "\u202egnp.exe\u202c \u2066mixed שלום\u2069"
LONG = "W" * 200


def test_each_role_sees_its_own_views(
    browser: Browser,
    moderator: Login,
    superadmin: Login,
    stranger: Login,
    nobody: Login,
    wall: Wall,
) -> None:
    """Tabs without use are hidden. Another tenant's admin learns nothing, not even a name."""
    url = "https://hooks.example.com/in?key=a-key"
    wall.configure(url)
    wall.record(url)
    secret = wall.event.collection("secrets").document("webhooks")
    by = {"uid": "ann", "email": "ann@example.com"}
    secret.set({"secret": "whsec_present", "rotatedAt": datetime.now(UTC), "rotatedBy": by})

    seen = browser.make(
        "roles",
        moderator=moderator,
        superadmin=superadmin,
        stranger=stranger,
        nobody=nobody,
        eventId=wall.id,
    )

    assert "Ask an admin" in seen["moderator"]
    assert seen["moderatorsTabs"] == ["Overview", "Photos", "Recap"]
    assert seen["superadminsTabs"] == ["Overview", "Photos", "Recap", "Webhooks"]
    assert "example.com" not in seen["moderator"]
    assert "Add endpoint" in seen["superadminsButtons"]
    assert "Rotate…" in seen["superadminsButtons"]
    assert seen["isHidden"]
    assert seen["secret"] == "whsec_present"
    assert seen["next"].startswith("whsec_")
    assert (secret.get().to_dict() or {}).keys() == {"secret", "rotatedAt", "rotatedBy"}
    assert seen["replaced"].endswith("rotated by ann@example.com.")
    assert f"Scheduled by {superadmin['email']}." in seen["announced"]
    assert f"--url '{url}'" in seen["curl"]
    assert "whsec_present" not in seen["curl"]
    assert wall.id not in seen["strangersEvents"]
    assert "Garden party" not in seen["strangersEvents"]
    assert nobody["email"] in seen["nobody"]


def test_a_link_in_an_email_signs_in(browser: Browser, admin: Login) -> None:
    """No password is needed, and the address keeps no code. The page can be installed."""
    seen = browser.make("mailed_link", admin=admin)

    assert seen == {
        "address": f"{SITE}/console",
        "manifest": [0, "Event photo wall", f"{SITE}/console", "kStandalone"],
        "icons": ["image/svg+xml"],
    }


def test_markup_of_others_is_shown_as_text(browser: Browser, admin: Login, wall: Wall) -> None:
    """Markup, marks that turn a line around, 200 letters without a break, a megabyte of body."""
    url = f"https://example.com/{MARKUP}{TURNED}{LONG}?{LONG}"
    wall.configure(url, MARKUP)
    wall.event.update({"name": f"{MARKUP} {TURNED}"[:200]})
    body = json.dumps({"data": MARKUP + TURNED, "filler": "x" * 900_000}, ensure_ascii=False)
    attempt = {"attempt": 1, "ms": 3, "round": 0, "status": None, "error": MARKUP + TURNED + LONG}
    now = wall.event.get().update_time
    delivery = wall.record(url, body=body, log=[attempt | {"at": now}], event=MARKUP + LONG)
    wall.record(MARKUP, outcome="skipped", reason=MARKUP + LONG, attempts=0, log=[])

    seen = browser.make("hostile", admin=admin, eventId=wall.id, deliveryId=delivery)

    assert seen["dialogs"] == []
    assert [seen[view]["foreign"] for view in ("list", "sheet", "endpoints")] == [0, 0, 0]
    assert [seen[view]["overflow"] for view in ("list", "sheet", "endpoints")] == [0, 0, 0]
    assert "\u202e" not in seen["body"]
    assert "\\u202egnp.exe" in seen["body"]
    assert len(seen["body"]) <= 20_000
    assert seen["whole"] > 900_000


def test_the_root_leads_to_the_console_and_an_unknown_path_has_a_page(browser: Browser) -> None:
    """A missing page links to the console. An encoded link still opens its page."""
    seen = browser.make("paths", refusals=4)
    assert seen["root"] == f"{SITE}/console"
    paths = ["/nowhere", "/console/events/e1", "/a/b%23c"]
    assert seen["missing"] == [[404, path] for path in paths]
    assert seen["encoded"] == f"{SITE}/console#/events/e1/recap"
