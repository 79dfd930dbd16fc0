"""Deliveries as an admin sees them: they arrive, they retry, they are found and sent again."""

from collections.abc import Callable
from typing import Any
from urllib.parse import quote

from google.cloud import firestore

from emulator.receiver import always, fails
from tests.suite.console.conftest import Browser, Record


def test_an_admin_watches_a_delivery_arrive_and_retry(
    browser: Browser,
    admin: dict[str, str],
    event: firestore.DocumentReference,
    configure: Callable[..., None],
    receiving: Callable[..., Any],
) -> None:
    """From signing in to sending one again; the filters stand in the address, the URL does not."""
    with receiving({"/ok": always(), "/flaky": fails(2)}) as receiver:
        taken = {"events": ["photo.uploaded"]}
        flaky = receiver.url("/flaky?key=a-key")
        configure({"url": receiver.url("/ok")} | taken, {"url": flaky} | taken)
        seen = browser.make("watching", admin=admin, eventId=event.id, photoId="p1")

    assert "500 Internal Server Error" in seen["retrying"]
    assert "3 of 4" in seen["delivered"]
    assert "200 OK" in seen["delivered"]
    assert [
        next(word for word in step.split() if word in ("500", "200")) for step in seen["attempts"]
    ] == ["500", "500", "200"]
    assert event.collection("deliveries").document(seen["id"]).get().get("url") == flaky
    assert seen["back"] == seen["filtered"]
    assert "a-key" not in seen["filtered"]
    assert quote(flaky, safe="") not in seen["filtered"]
    assert seen["rows"] == 1


def test_each_view_reads_what_it_shows(
    browser: Browser,
    admin: dict[str, str],
    event: firestore.DocumentReference,
    configure: Callable[..., None],
    record: Record,
) -> None:
    """A page of 25, the event and its settings; then 25 more; then one, and the event."""
    configure("https://example.com/hook")
    ids = [record("https://example.com/hook", minutes_ago=60 + one) for one in range(60)]

    found = browser.make("counting", admin=admin, eventId=event.id, deliveryId=ids[7])

    assert found == {
        "list": {"documents": 25 + 1 + 1, "aggregations": 0},
        "older": {"documents": 25, "aggregations": 0},
        "delivery": {"documents": 1 + 1, "aggregations": 0},
    }
