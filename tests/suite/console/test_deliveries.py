"""Deliveries as an admin sees them: they arrive, they retry, they are found and sent again."""

from urllib.parse import quote

from emulator.receiver import always, fails
from functions.webhooks.webhook_settings import endpoint_id
from tests.suite.console.conftest import Browser, Login
from tests.suite.wall_client import Wall, receiving


def test_an_admin_watches_a_delivery_arrive_and_retry(
    browser: Browser, admin: Login, wall: Wall
) -> None:
    """From sign-in to a resend. The page's address has the filters, but not the URL."""
    with receiving({"/ok": always(), "/flaky": fails(2)}) as receiver:
        taken = {"events": ["photo.uploaded"]}
        flaky = receiver.url("/flaky?key=a-key")
        wall.configure({"url": receiver.url("/ok")} | taken, {"url": flaky} | taken)
        seen = browser.make("watching", admin=admin, eventId=wall.id, photoId="p1")

    assert "500 Internal Server Error" in seen["retrying"]
    assert "3 of 4" in seen["delivered"]
    assert "200 OK" in seen["delivered"]
    assert [
        next(word for word in step.split() if word in ("500", "200")) for step in seen["attempts"]
    ] == ["500", "500", "200"]
    assert wall.event.collection("deliveries").document(seen["id"]).get().get("url") == flaky
    assert seen["back"] == seen["filtered"]
    assert seen["focused"] == seen["id"]
    assert seen["place"] > 0
    assert seen["moved"] == 0
    assert "/flaky" in seen["title"]
    assert set(seen["told"]) <= {"", "Live"}
    assert "a-key" not in seen["filtered"]
    assert quote(flaky, safe="") not in seen["filtered"]
    assert seen["rows"] == 2


def test_a_lost_connection_is_shown_and_recovered(
    browser: Browser, admin: Login, wall: Wall
) -> None:
    """Known data stays. Changes appear without a reload when the network is back."""
    with receiving({"/ok": always()}) as receiver:
        wall.configure({"url": receiver.url("/ok"), "events": ["photo.uploaded"]})
        wall.record(receiver.url("/ok"))
        seen = browser.make("offline", admin=admin, eventId=wall.id)

    assert seen["rows"] == 1
    assert "You're offline" in seen["told"]
    assert "Approved\n\N{EN DASH}" in seen["unknown"]
    assert "Last recap\nnone" not in seen["unknown"]


def test_failed_deliveries_are_resent_after_a_confirmation(
    browser: Browser, admin: Login, wall: Wall
) -> None:
    """The dialog names number and endpoints. Deliveries that fail later are not resent."""
    with receiving({"/one": always(), "/two": always()}) as receiver:
        urls = [receiver.url("/one"), receiver.url("/two")]
        wall.configure(*urls, labels={urls[0]: "The hall"})
        shown = {wall.record(url) for url in urls}
        late = wall.record(urls[0], outcome="success")
        path = wall.event.collection("deliveries").document(late).path
        seen = browser.make("again", admin=admin, eventId=wall.id, late=path)
        receiver.wait_for(lambda got: {request.delivery_id for request in got} >= shown, timeout=60)
        sent = {request.delivery_id for request in receiver.requests}

    assert "Resend 2 deliveries?" in seen["asked"]
    assert "To 2 endpoints:" in seen["asked"]
    assert "The hall" in seen["asked"]
    assert sent == shown


def test_each_view_reads_only_the_documents_that_it_shows(
    browser: Browser, superadmin: Login, wall: Wall
) -> None:
    """Besides the event, whose name each of them shows."""
    url = "https://example.com/hook"
    wall.configure(url)
    ids = [wall.record(url, minutes_ago=60 + number) for number in range(45)]
    wall.event.collection("secrets").document("webhooks").set({"secret": "whsec_present"})
    for earlier in range(15):
        wall.record(url, outcome="success", minutes_ago=200 + earlier)
    receiver = endpoint_id(url)

    found = browser.make(
        "counting", superadmin=superadmin, eventId=wall.id, deliveryId=ids[7], receiver=receiver
    )

    def cost(documents: int, aggregations: int = 0) -> dict[str, int]:
        return {"documents": 1 + documents, "aggregations": aggregations}

    assert found == {
        # The settings, a page of 25 and one more; two counts for each receiver, if one has failed
        # a third, ten acknowledged deliveries, the last failure and the first since.
        "list": cost(1 + 26 + 10 + 1 + 1, aggregations=3),
        "older": {"documents": 51, "aggregations": 0},
        "filtered": cost(1 + 10 + 1 + 1, aggregations=3),
        "delivery": cost(1 + 1),
        "receiver": cost(1 + 26 + 10 + 1 + 1, aggregations=3),
        "recap": cost(0),
        # The settings, ten deliveries and one more, the last success and one more, and the last
        # success and failure of the receiver; two counts of photos, and two of its failures.
        "overview": cost(1 + 11 + 2 + 1 + 1, aggregations=2 + 2),
    }
