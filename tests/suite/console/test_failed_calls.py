"""The console reports calls that are refused, cut off or never answered."""

import re

from tests.suite.console.conftest import Browser, Login
from tests.suite.wall_client import Wall


def test_the_message_of_a_failed_call_is_shown_completely(
    browser: Browser, admin: Login, wall: Wall
) -> None:
    """The page shows one sentence for a refusal. Without a response the result is unknown."""
    wall.configure("https://example.com/kept")
    removed = wall.record("https://example.com/removed")
    seen = browser.make("answers", refusals=2, admin=admin, eventId=wall.id, deliveryId=removed)

    unknown = (
        "We couldn't confirm whether this worked."
        " Check the delivery's attempts before trying again."
    )
    assert seen["refused"].startswith("This delivery can't be resent now.")
    assert seen["cut"] == f"Can't reach the server. {unknown}"
    assert seen["late"] == f"The request timed out. {unknown}"
    assert re.search(r"updated 3\d s ago$", seen["silent"])
