"""The mail in a browser, narrow and wide, light and dark; pictures are left in `.emulator/`."""

from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from emulator.mailbox import Mailbox
from emulator.pictures import BUCKET
from tests.suite.browser import Driver
from tests.suite.call import Answer
from tests.suite.wall_client import Wall

LOOKS: Final = ((320, "light"), (800, "dark"))
"""Width and colour scheme do not depend on each other."""
PICTURES: Final = Path(__file__).parents[3] / ".emulator"
MESSAGE: Final = "Dear all,\nthank you for a wonderful evening! The wall stays open for a month."


@pytest.mark.parametrize("case", ["personal", "all", "images-off", "one-photo"])
def test_the_email_fits_every_window(
    driver: Driver, wall: Wall, mailbox: Mailbox, recap: Callable[..., Answer], case: str
) -> None:
    """Nothing is wider than a narrow phone's window, and all pictures load that exist."""
    count = 1 if case == "one-photo" else 11
    pictures = [f"{BUCKET}{n}.svg" for n in range(count)]
    guest = {"uploaderEmail": "anna@example.com", "uploaderName": "Anna"}
    wall.photos(*({"url": picture, "thumbUrl": picture} | guest for picture in pictures))
    wall.publish(logoUrl=f"{BUCKET}99.svg", accentColor="#ffd60a")
    recap(mode="all" if case == "all" else "personal", message=MESSAGE)
    (mail,) = mailbox.emails
    looks = [
        {
            "width": width,
            "scheme": scheme,
            "picture": f"{PICTURES}/recap-{case}-{width}-{scheme}.png",
        }
        for width, scheme in LOOKS
    ]
    asked = {"mail": mail.html, "missing": case == "images-off", "looks": looks}
    seen = driver.make("recap/look", {}, **asked)["found"]
    drawn = 0 if case == "images-off" else count + 1  # the logo
    assert seen == [{"width": look["width"], "drawn": drawn} for look in looks]
