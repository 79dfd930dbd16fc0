"""What the console says of calls that are refused, cut off or never answered."""

import re

from tests.suite.console.conftest import Browser, Login
from tests.suite.walls import Wall


def test_a_call_that_was_not_carried_out_is_told_to_the_last_character(
    browser: Browser, admin: Login, wall: Wall
) -> None:
    """A refusal is the service's sentence and nothing more; without an answer nothing is known."""
    wall.configure("https://example.com/kept")
    removed = wall.record("https://example.com/removed")
    seen = browser.make("answers", refusals=2, admin=admin, eventId=wall.id, deliveryId=removed)

    unknown = (
        "Whether this was done is not known: look at the delivery's attempts before you try again."
    )
    assert seen["refused"] == (
        "The delivery's URL is not one of the event's webhook URLs any more; add it first."
    )
    assert seen["cut"] == f"The service cannot be reached. {unknown}"
    assert seen["late"] == f"No answer came in time. {unknown}"
    assert re.search(r"last news 3\d s ago$", seen["silent"])
