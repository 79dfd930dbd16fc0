"""Endpoints as an admin sees them."""

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from google.cloud import firestore
from standardwebhooks import Webhook

from emulator.receiver import always
from functions.webhooks.settings.webhook_settings import key
from functions.webhooks.signing.signature import sign
from functions.webhooks.signing.wiring import new_secret
from tests.suite.console.conftest import Browser, Record


def test_an_admin_adds_tries_enables_recovers_and_removes(
    browser: Browser,
    admin: dict[str, str],
    event: firestore.DocumentReference,
    configure: Callable[..., None],
    record: Record,
    receiving: Callable[..., Any],
) -> None:
    """What cannot be is told before it is saved; what a recovery would do, before it does it."""
    scripts = {path: always() for path in ("/keeps", "/given-up", "/added")}
    with receiving(scripts) as receiver:
        dead = receiver.url("/given-up")
        disabled = {
            key(dead): {
                "url": dead,
                "reason": "100 deliveries in a row have failed",
                "at": datetime.now(UTC) - timedelta(hours=2),
            }
        }
        configure(receiver.url("/keeps"), dead, disabled=disabled, notify=["somebody@example.com"])
        added = receiver.url("/added")
        missed = [record(dead), record(dead)]
        missed.append(record(dead, outcome="skipped", attempts=0, log=[], reason="disabled"))
        record(dead, minutes_ago=300)
        record(dead, test=True)
        seen = browser.make(
            "endpoints",
            admin=admin,
            eventId=event.id,
            added=added,
            disabled=dead,
            typo="",
            corrected="",
        )
        receiver.wait_for(
            lambda got: {request.delivery_id for request in got} >= set(missed), timeout=30
        )
        tested = [request.event_type for request in receiver.requests if request.path == "/added"]

    assert seen["told"] == "It has to begin with https://"
    assert seen["isOpenStill"]
    assert "100 deliveries in a row have failed" in seen["reason"]
    assert seen["recoverWhileOff"] == 0
    assert "3 deliveries would be sent again" in seen["before"]
    assert "Left alone: 1 test." in seen["before"]
    assert "3 deliveries are on the way again" in seen["after"]
    assert tested == ["milestone.reached"]
    assert "There is nothing to send again since then." in seen["switchedOn"]
    assert "Screen in the hall" in seen["receivers"]
    assert "Superadmins of your organization can read it" in seen["secret"]
    settings = event.collection("settings").document("webhooks").get().to_dict() or {}
    assert settings.pop("urlsChangedAt")
    keeps = receiver.url("/keeps")
    assert settings == {
        "urls": [{"id": key(url), "url": url} for url in (keeps, dead)],
        "labels": {keeps: "Screen in the hall"},
        "off": {},
        "disabled": {},
        "recover": [],
        "notify": [admin["email"]],
    }


def test_a_developer_has_a_sample_signed_in_the_browser(browser: Browser) -> None:
    """Spec 5: for both schemes; the secret is sent nowhere."""
    secret = new_secret()
    seen = browser.make("sample", secret=secret, type="guest.joined")

    assert seen["asked"] == []
    assert seen["isShown"]
    assert "--url 'http://localhost:3000/in'" in seen["command"]
    headers = dict(re.findall(r"--header '([^:]+): ([^']*)'", seen["command"]))
    [body] = re.findall(r"printf %s '(\{.*\})' \|", seen["command"])
    at = int(headers["webhook-timestamp"])
    assert headers["Wall-Signature"] == sign(secret, body.encode(), at=at)
    assert Webhook(secret).verify(body, headers)["event"] == headers["Wall-Event-Type"]
    assert headers["Wall-Event-Type"] == "guest.joined"
