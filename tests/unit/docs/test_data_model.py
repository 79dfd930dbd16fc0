"""docs/data-model.md documents every path and field of firestore.rules."""

import re
from pathlib import Path
from typing import Final

from ops import merging

ROOT: Final = Path(__file__).parents[3]
RULES: Final = (ROOT / "firestore.rules").read_text()
PAGE: Final = (ROOT / "docs/data-model.md").read_text()


def test_every_field_that_a_client_may_write_is_documented() -> None:
    """These are the fields that the rules name."""
    names = set(re.findall(r"'([a-zA-Z]+)'", RULES)) - {"role", "tenant"}
    assert {name for name in names if not re.search(rf"\b{name}\b", PAGE)} == set()


def test_every_collection_is_documented() -> None:
    """These are the collections of the rules."""
    collections = {path.split("/")[-2] for path in merging.paths_of(RULES)}
    assert {name for name in collections if f"{name}/" not in PAGE} == set()
