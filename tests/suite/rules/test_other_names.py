"""The rules that docs/into-your-project.md has for an app with other names of events."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.suite.rules.cast import TENANT, Cast, Who
from tests.suite.rules.client import Client, load_rules

PAGE: Final = Path(__file__).parents[3] / "docs/into-your-project.md"
RECORDS: Final = ("settings/webhooks", "deliveries/d", "recaps/r")
OWNERS: Final = (Who.ADMIN, Who.SUPERADMIN)


@pytest.fixture
def wedding(rules: str, administrator: Client) -> Iterator[str]:
    """Path of a wedding's records, under the rules of the page."""
    block = PAGE.read_text().partition("```javascript rules\n")[2].partition("```")[0]
    documents = f"match /databases/{{database}}/documents {{\n{block}}}"
    load_rules(f"rules_version = '2';\nservice cloud.firestore {{\n{documents}\n}}")
    administrator.replace("weddings/w", {"owner": TENANT})
    for record in (*RECORDS, "secrets/webhooks"):
        administrator.replace(f"events/w/{record}", {"x": 1})
    yield "events/w"
    load_rules(rules)


def test_records_are_read_by_staff_of_the_wedding(wedding: str, cast: Cast) -> None:
    """By admins and superadmins of its tenant, by nobody else; the secret by superadmins alone."""

    def readers(record: str) -> set[Who]:
        return {who for who in Who if cast.client(who).get(f"{wedding}/{record}")}

    for record in RECORDS:
        assert readers(record) == set(OWNERS), record
    assert readers("secrets/webhooks") == {Who.SUPERADMIN}
    for who in Who:
        client = cast.client(who)
        is_owner = who in OWNERS
        assert client.list(f"{wedding}/deliveries") is is_owner, who
        assert client.list(f"{wedding}/wall") is (who is not Who.SIGNED_OUT), who
        assert not client.list(f"{wedding}/deliveries", limit=None), who
        assert not client.replace(f"{wedding}/settings/webhooks", {"urls": []}), who
        assert not client.replace(wedding, {"owner": "b", "tenantId": "b"}), who
        assert not client.get(f"{wedding}-gone/deliveries/d"), who
