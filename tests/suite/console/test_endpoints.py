"""Endpoints as an admin sees them."""

from datetime import UTC, datetime, timedelta

from emulator.receiver import always
from functions.webhooks.events import EventType
from functions.webhooks.webhook_settings import endpoint_id
from tests.suite.console.conftest import Browser, Login
from tests.suite.wall_client import Wall, receiving


def test_an_admin_manages_endpoints(browser: Browser, admin: Login, wall: Wall) -> None:
    """The page reports invalid input before saving, and a recovery's effect before it starts."""
    scripts = {path: always() for path in ("/keeps", "/given-up", "/added", "/right", "/back")}
    with receiving(scripts) as receiver:
        dead = receiver.url("/given-up")
        disabled = {
            endpoint_id(dead): {
                "url": dead,
                "reason": "100 deliveries in a row have failed",
                "at": datetime.now(UTC) - timedelta(hours=2),
            }
        }
        wanted = ("/keeps", "/rihgt", "/right", "/back")
        keeps, typo, right, back = (receiver.url(path) for path in wanted)
        twice = {"url": keeps, "events": ["photo.deleted"]}
        wall.configure(
            *({"url": url} for url in (keeps, dead)),
            typo,
            back,
            twice,
            recover=[keeps, dead],
            disabled=disabled,
            notify=["somebody@example.com"],
        )
        added = receiver.url("/added")
        missed = [wall.record(dead), wall.record(dead)]
        missed.append(wall.record(dead, outcome="skipped", attempts=0, log=[], reason="disabled"))
        wall.record(dead, minutes_ago=300)
        wall.record(dead, test=True)
        misdirected = [wall.record(typo), wall.record(typo)]
        wall.record(back, minutes_ago=90)
        wall.record(back, minutes_ago=80)
        wall.record(back, minutes_ago=20, outcome="success")
        seen = browser.make(
            "endpoints",
            admin=admin,
            eventId=wall.id,
            added=added,
            disabled=dead,
            typo=typo,
            corrected=right,
            missing=back,
        )
        receiver.wait_for(
            lambda got: {request.delivery_id for request in got} >= {*missed, *misdirected},
            timeout=60,
        )
        tested = [request.event_type for request in receiver.requests if request.path == "/added"]
        sent = {request.delivery_id for request in receiver.requests if request.path == "/right"}
        paths = {request.path for request in receiver.requests}

    assert seen["told"] == "URL must start with https://"
    assert seen["isOpenStill"]
    assert "100 deliveries in a row have failed" in seen["reason"]
    assert seen["recoverWhileOff"] == 0
    assert "3 deliveries will be resent" in seen["before"]
    assert "Not included: 1 test." in seen["before"]
    assert "3 deliveries queued for resending" in seen["after"]
    assert "2 deliveries will be resent" in seen["corrected"]
    assert seen["missing"].startswith("2 deliveries failed in the last 24 hours.")
    assert "2 deliveries failed (can be resent)" in seen["row"]
    assert "3 deliveries failed" in seen["headline"]
    assert "2 deliveries will be resent" in seen["offered"]
    assert sent == set(misdirected)
    assert "/rihgt" not in paths
    assert tested == ["milestone.reached"]
    assert "No failed or skipped deliveries since that time." in seen["switchedOn"]
    assert "Screen in the hall" in seen["receivers"]
    assert "Only superadmins can view or rotate the secret" in seen["secret"]
    assert f"/console#/events/{wall.id}/receivers" in seen["secret"]
    settings = wall.settings.get().to_dict() or {}
    assert settings.pop("urlsChangedAt")
    assert seen["changed"]
    assert settings == {
        "urls": [
            {"id": endpoint_id(keeps), "url": keeps, "events": list(EventType)},
            {"id": endpoint_id(dead), "url": dead},
            {"id": endpoint_id(typo), "url": right},
            {"id": endpoint_id(back), "url": back},
        ],
        "labels": {endpoint_id(keeps): "Screen in the hall"},
        "off": {},
        "disabled": {},
        "recover": [endpoint_id(dead), endpoint_id(back)],
        "notify": [admin["email"]],
    }


def test_a_developer_copies_a_sample(browser: Browser) -> None:
    """A command for the chosen type and receiver, made in the browser, as a delivery's is."""
    seen = browser.make("sample", type="guest.joined")

    assert seen["asked"] == []
    assert seen["isShown"]
    assert "--url 'http://localhost:3000/in'" in seen["command"]
    assert "--header 'Wall-Event-Type: guest.joined'" in seen["command"]
    assert '"event":"guest.joined"' in seen["command"]
