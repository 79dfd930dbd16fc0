"""The catalogue of event types, and the contract for programs, as Firebase Hosting serves them."""

import json
import re
import urllib.request
from email.message import Message
from typing import Final

from tests.unit.contract.promise import DOCUMENT

SITE: Final = "http://127.0.0.1:5000"


def fetch(path: str) -> tuple[str, Message]:
    """Text and headers of an answer that is 200."""
    with urllib.request.urlopen(SITE + path, timeout=60) as answer:  # noqa: S310 - loopback
        assert answer.status == 200
        return answer.read().decode(), answer.headers


def test_the_catalogue_is_served_with_all_that_it_needs() -> None:
    """By this site alone; its policy lets no style or script stand in the page."""
    text, headers = fetch("/events")
    policy = headers["Content-Security-Policy"]
    assert "style-src 'self'" in policy
    assert "unsafe-inline" not in policy
    for address in re.findall(r'(?:src|href)="([^"#]+)"', text):
        assert address.startswith("/")
        fetch(address)


def test_programs_read_the_contract_there() -> None:
    """The served contract is docs/openapi.yaml with its version."""
    text, _ = fetch("/openapi.json")
    assert json.loads(text) == DOCUMENT
