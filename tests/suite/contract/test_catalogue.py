"""The contract for programs, as Firebase Hosting serves it."""

import json
from typing import Final

from tests.suite.call import fetch
from tests.unit.contract.promise import DOCUMENT

SITE: Final = "http://127.0.0.1:5000"


def test_programs_read_the_contract_there() -> None:
    """The served contract is docs/openapi.yaml with its version."""
    _, text, _ = fetch(f"{SITE}/openapi.json")
    assert json.loads(text) == DOCUMENT
