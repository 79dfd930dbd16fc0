"""A link to the deliveries of one URL, from its making to its end."""

import re
from urllib.parse import parse_qs, urlsplit

from emulator.receiver import always
from functions.webhooks.deliveries.endpoint_url import name_of
from functions.webhooks.webhook_settings import endpoint_id
from tests.suite.console.conftest import SITE, Browser, Login
from tests.suite.wall_client import Wall, receiving


def test_a_shared_link_shows_one_url_until_it_is_revoked(
    browser: Browser, admin: Login, wall: Wall
) -> None:
    """In a new profile the link shows and resends only deliveries to that URL."""
    with receiving({"/theirs": always()}) as receiver:
        theirs = receiver.url("/theirs?key=a-key")
        wall.configure(theirs, "https://example.com/another-receiver", labels={theirs: "The hall"})
        delivery_id = wall.record(theirs)
        wall.record("https://example.com/another-receiver", minutes_ago=5)
        seen = browser.make(
            "sharing", refusals=1, admin=admin, eventId=wall.id, receiver=endpoint_id(theirs)
        )

    token = parse_qs(urlsplit(seen["link"]).fragment)["token"][0]
    assert "Garden party / The hall" in " ".join(seen["head"].split())
    assert seen["address"] == f"{SITE}/deliveries"
    assert seen["moved"] == 0, "a button moved under the pointer as the page loaded"
    assert seen["rows"] == 1
    assert "by you" in seen["made"]
    assert name_of(theirs) in seen["list"]  # neither path nor query
    assert "theirs" not in seen["head"]
    assert re.search(r"Link expires in (3 d|2 d 23 h)", seen["head"])
    assert delivery_id in seen["sheet"]
    assert "a-key" not in seen["sheet"]
    assert "another-receiver" not in seen["sheet"]
    # In English throughout, also on a browser that is not.
    assert re.search(r"As of\s+\d\d:\d\d:\d\d", seen["list"])
    # The page has nothing of Firebase but the two calls.
    called = {
        urlsplit(request).path.rsplit("/", 1)[-1]
        for request in seen["requests"]
        if ":5001/" in request
    }
    assert called == {"getWebhookLog", "resendSharedWebhook"}
    assert {urlsplit(request).port for request in seen["requests"]} == {5000, 5001}
    assert not [request for request in seen["requests"] if token in request]
