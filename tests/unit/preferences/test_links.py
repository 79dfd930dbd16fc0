"""Design 4: the links in a mail."""

from datetime import UTC, datetime
from urllib.parse import parse_qs, urlsplit

import pytest

from functions.preferences.links import PreferencesLinks, page_link
from functions.preferences.token import TokenKeys

TOKEN = TokenKeys(["key"]).issue("user-1", datetime(2026, 5, 1, tzinfo=UTC))


@pytest.mark.parametrize("base_url", ["https://wall.example.com", "https://wall.example.com/"])
def test_links(base_url: str) -> None:
    """People get the token in the fragment, mail programs in the query."""
    links = PreferencesLinks.to(base_url, TOKEN)
    assert links.page == f"https://wall.example.com/preferences#token={TOKEN}"
    parts = urlsplit(links.one_click)
    assert (parts.netloc, parts.path) == ("wall.example.com", "/unsubscribe")
    assert parse_qs(parts.query) == {"token": [TOKEN]}


@pytest.mark.parametrize("token", ["", "a b", "x#y", "<script>", "\r\nX: y", "é", "x" * 4097])
def test_no_token(token: str) -> None:
    """What can be no token is left out."""
    assert page_link("https://wall.example.com", token) == "https://wall.example.com/preferences"
