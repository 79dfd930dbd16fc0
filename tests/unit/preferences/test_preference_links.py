"""Design 4: the links in an email."""

from datetime import UTC, datetime
from urllib.parse import parse_qs, urlsplit

import pytest

from functions.links.link import LinkSigner, confirmation_link, page_link
from functions.links.token import Scope, TokenKeys
from functions.ports import Clock
from tests.in_memory.adapters import InMemorySecrets

KEY = "k" * 32
KEYS = TokenKeys([KEY])
NOW = datetime(2026, 5, 1, tzinfo=UTC)


@pytest.mark.parametrize("base_url", ["https://wall.example.com", "https://wall.example.com/"])
def test_the_page_link_has_a_fragment_and_the_one_click_link_a_query(base_url: str) -> None:
    """The one-click link is for email clients. Its token has another scope."""
    secrets = InMemorySecrets({"EMAIL_PREFS_KEY": (KEY,)})
    links = LinkSigner(secrets, base_url, Clock(lambda: NOW, lambda: 0.0, lambda _: None)).sign(
        "guest-1", "u1"
    )
    page, _, token = links.page.partition("#token=")
    assert page == "https://wall.example.com/preferences"
    assert KEYS.verify(token, NOW) == ("guest-1", "u1")
    parts = urlsplit(links.one_click)
    assert (parts.netloc, parts.path) == ("wall.example.com", "/unsubscribe")
    [one_click] = parse_qs(parts.query)["token"]
    assert KEYS.verify(one_click, NOW, Scope.UNSUBSCRIBE) == ("guest-1", "u1")


@pytest.mark.parametrize("token", ["", "a b", "x#y", "<script>", "\r\nX: y", "é", "x" * 4097])
def test_an_invalid_token_is_left_out_of_the_link(token: str) -> None:
    """The link then leads to the page without a token."""
    for link in (page_link, confirmation_link):
        assert link("https://wall.example.com", token) == "https://wall.example.com/preferences"
