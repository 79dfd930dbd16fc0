"""The catalogue of event types, and the contract for programs, as Firebase Hosting serves them."""

import json
import re
from typing import Final

from tests.suite.call import fetch
from tests.unit.contract.promise import DOCUMENT

SITE: Final = "http://127.0.0.1:5000"


def test_the_catalogue_is_served_with_all_that_it_needs() -> None:
    """By this site alone; its policy lets no style or script stand in the page."""
    _, text, headers = fetch(f"{SITE}/events")
    policy = headers["Content-Security-Policy"]
    assert "style-src 'self'" in policy
    assert "unsafe-inline" not in policy
    for address in re.findall(r'(?:src|href)="([^"#]+)"', text):
        assert address.startswith("/")
        assert fetch(SITE + address)[0] == 200


def test_programs_read_the_contract_there() -> None:
    """The served contract is docs/openapi.yaml with its version."""
    _, text, _ = fetch(f"{SITE}/openapi.json")
    assert json.loads(text) == DOCUMENT
