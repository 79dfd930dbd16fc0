"""The page in a real browser.

Pictures of it are left in `.emulator/`.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import pytest
from google.cloud import firestore

from functions.links.link import one_click_link, page_link
from tests.suite.browser import Driver
from tests.suite.call import call

PICTURES: Final = Path(__file__).parents[3] / ".emulator"
SITE: Final = "http://127.0.0.1:5000"

RECAP: Final = "Event recaps"
TIPS: Final = "Tips and reminders"
FRESH: Final = {RECAP: True, TIPS: True, "News": True, "Receipts and security": True}


@dataclass(frozen=True, slots=True)
class Visit:
    """Result of one visit to the page.

    `text` is the readable text, and `said` the part that screen readers announce. `switches` has
    the state of each switch by its label. `overflow` is the number of pixels by which the page is
    too wide. `turned` describes the switch that was pressed, if any. `language` and `direction` are
    those of the page.
    """

    address: str
    text: str
    said: str
    switches: dict[str, bool]
    overflow: int
    requests: list[dict[str, Any]]
    problems: list[str]
    turned: dict[str, Any] | None
    language: str
    direction: str


Browse = Callable[..., list[Visit]]


@pytest.fixture
def browse(driver: Driver, headers: dict[str, str]) -> Browse:
    """Make visits one after the other. visits.mjs lists the possible actions."""

    def run(*visits: dict[str, Any]) -> list[Visit]:
        answer = driver.make("preferences/visits", headers, visits=visits)
        return [Visit(**visit) for visit in answer["found"]]

    return run


def test_the_page_leaks_neither_token_nor_visit(
    browse: Browse, record: firestore.DocumentReference, token: str
) -> None:
    """No address bar and no request contains the token, and no other site learns of the visit."""
    record.set({"email": f"{record.id}@example.com"})

    (visit,) = browse({"link": page_link(SITE, token), "turn": RECAP})

    assert visit.address == f"{SITE}/preferences"
    assert visit.problems == []
    paths = {urlsplit(request["url"]).path for request in visit.requests}
    assert {"/preferences", "/api/getEmailPreferences", "/api/updateEmailPreferences"} <= paths
    for request in visit.requests:
        assert request["url"].startswith(f"{SITE}/")
        assert token not in request["url"]
        assert request["referer"] is None


def test_an_opened_one_click_link_asks_for_confirmation(
    browse: Browse, record: firestore.DocumentReference, one_click_token: str
) -> None:
    """Opening the page changes nothing, and pressing the button does (RFC 8058)."""
    link = one_click_link(SITE, one_click_token)

    asked, pressed = browse({"link": link}, {"link": link, "press": "Unsubscribe"})

    assert asked.said == "Unsubscribe from event recaps?"
    assert asked.address == f"{SITE}/preferences"
    assert asked.problems == []
    assert pressed.said == (
        "You're unsubscribed from event recaps. "
        "Changed your mind? Use the link at the bottom of any recap."
    )
    assert record.get().get("emailPreferences") == {"recap": False}


def test_a_link_that_an_email_gateway_has_rewritten_still_works(
    browse: Browse, token: str, one_click_token: str
) -> None:
    """The token is in no request after the one that the gateway's link makes."""
    links = [
        f"{SITE}/preferences%23token={token}",
        f"{SITE}/preferences%23token%3D{token}",
        f"{SITE}/preferences?token%3D{token}",
        f"{SITE}/preferences#token%3D{token}",
    ]
    clicks = [
        f"{SITE}/preferences%23unsubscribe%3D{one_click_token}",
        f"{SITE}/unsubscribe?token%3D{one_click_token}",
    ]

    visits = browse(*({"link": link} for link in [*links, *clicks]))

    for visit in visits:
        assert visit.address == f"{SITE}/preferences"
        assert not any(token in request["url"] for request in visit.requests[1:])
    assert [visit.switches for visit in visits[: len(links)]] == [{RECAP: True}] * len(links)
    assert [visit.said for visit in visits[len(links) :]] == ["Unsubscribe from event recaps?"] * 2


@pytest.mark.usefixtures("one_hour")
def test_a_reader_in_a_crowded_network_can_still_unsubscribe(
    browse: Browse, record: firestore.DocumentReference, token: str, headers: dict[str, str]
) -> None:
    """Neighbors who exhausted the lookups of their address do not prevent an opt-out."""
    record.set({"email": f"{record.id}@example.com"})
    for _ in range(40):  # the limit is 20, but a call passes while the limiter has no answer
        if call("getEmailPreferences", {"token": token}, headers=headers).status == 429:
            break

    link = page_link(SITE, token)
    refused, pressed = browse({"link": link}, {"link": link, "press": "Unsubscribe"})

    assert refused.said.startswith("Too many requests from your network.")
    assert pressed.said.startswith("You're unsubscribed from event recaps.")
    assert record.get().get("emailPreferences") == {"recap": False}


def test_a_guest_without_an_account_sees_one_switch(browse: Browse, token: str) -> None:
    """Emails that only accounts get are under "More"."""
    link = page_link(SITE, token)

    first, more = browse({"link": link}, {"link": link, "open": "More"})

    assert "For the address this link was sent to." in first.text
    assert first.switches == {RECAP: True}
    assert more.switches == FRESH


def test_the_page_shows_the_current_preferences(
    browse: Browse, record: firestore.DocumentReference, token: str
) -> None:
    """Spec 4.1, rule 3: there are no recaps without tips and reminders."""
    record.set({"email": f"{record.id}@example.com"})
    link = page_link(SITE, token)

    off, none, undone = browse(
        {"link": link, "turn": TIPS},
        {"link": link, "press": "Unsubscribe from all"},
        {"link": link, "turn": TIPS, "press": "Undo"},
    )

    assert off.switches == FRESH | {TIPS: False, RECAP: False}
    assert "Off, because tips and reminders are off." in off.text
    assert none.said == "You've been unsubscribed from all of these emails."
    assert undone.said == "Saved."
    assert record.get().get("emailPreferences") == {
        "lifecycle": False,
        "recap": False,
        "marketing": False,
    }


@pytest.mark.parametrize(
    ("locale", "language", "direction", "heading"),
    [
        ("de-AT", "de", "ltr", "E-Mail-Einstellungen"),
        ("ar-EG", "ar", "rtl", "تفضيلات البريد الإلكتروني"),
        ("ja", "en", "ltr", "Email preferences"),
    ],
)
@pytest.mark.parametrize("is_good", [True, False])
def test_the_page_speaks_the_browsers_language_and_fits_every_window(
    browse: Browse,
    record: firestore.DocumentReference,
    token: str,
    old_token: str,
    locale: str,
    language: str,
    direction: str,
    heading: str,
    is_good: bool,
) -> None:
    """Nothing is wider than the window, from a narrow phone on, with a long address too."""
    record.set({"email": f"{'a-rather-long-address' * 3}@{'mail.' * 6}example.com"})
    case = "saved" if is_good else "expired"
    looks = [
        {
            "link": page_link(SITE, token if is_good else old_token),
            "locale": locale,
            "turn": "" if locale != "ja" or not is_good else RECAP,
            "width": width,
            "scheme": scheme,
            "picture": str(PICTURES / f"preferences-{case}-{language}-{width}-{scheme}.png"),
        }
        for width, scheme in ((360, "light"), (1280, "dark"))
    ]

    for visit in browse(*looks):
        assert (visit.language, visit.direction, visit.overflow) == (language, direction, 0)
        assert heading in visit.text
        assert is_good == (visit.problems == [])


def test_an_invalid_link_is_explained(browse: Browse, token: str, old_token: str) -> None:
    """Spec 7.2: if the link was altered or is older than 30 days, the page says what to do."""
    middle = len(token) // 2
    altered = token[:middle] + ("A" if token[middle] != "A" else "B") + token[middle + 1 :]

    for visit in browse(*({"link": page_link(SITE, bad)} for bad in (altered, old_token))):
        assert visit.said == (
            "This link has expired or is incomplete. Please use the link in our latest email."
        )
        assert visit.switches == {}
        assert visit.address == f"{SITE}/preferences"
        # The browser's own line about the refused call is all that there is to see.
        assert [re.findall(r"status of \d+", problem) for problem in visit.problems] == [
            ["status of 403"]
        ]
