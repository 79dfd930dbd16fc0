"""What a user may change of the own record (spec 2.3)."""

from typing import Any

import pytest
from google.cloud.firestore import DELETE_FIELD

from tests.suite.rules.cast import Cast, Who
from tests.suite.rules.client import Client


@pytest.mark.parametrize(
    ("fields", "allowed"),
    [
        ({"emailPreferences": {"lifecycle": False, "recap": False, "marketing": False}}, True),
        ({"emailPreferences": {"recap": True}}, True),
        ({"emailPreferences": {}}, True),
        ({"emailPreferences.marketing": False}, True),
        ({"emailPreferences.transactional": False}, False),
        ({"emailPreferences.transactional": True}, False),
        ({"emailPreferences.recap": "no"}, False),
        ({"emailPreferences.lifecycle": None}, False),
        ({"emailPreferences.marketing": 0}, False),
        ({"emailPreferences": None}, False),
        ({"emailPreferences": DELETE_FIELD}, False),
        ({"emailPreferences": ["recap"]}, False),
        ({"email": "another@example.com"}, False),
        ({"email": "another@example.com", "emailPreferences.recap": False}, False),
        ({"email": DELETE_FIELD}, False),
        ({"role": "superadmin"}, False),
        ({"tenantId": "tenant-a"}, False),
    ],
)
def test_a_user_changes_email_preferences_and_nothing_else(
    fields: dict[str, Any],
    allowed: bool,
    cast: Cast,
    administrator: Client,
) -> None:
    """Spec 2.3: a user changes three booleans; `transactional` cannot be turned off."""
    path = f"users/{cast.uid(Who.MEMBER)}"
    preferences = {"lifecycle": True, "recap": True, "marketing": True}
    record = {"email": cast.email(Who.MEMBER), "emailPreferences": preferences}
    administrator.replace(path, record)

    assert allowed is cast.client(Who.MEMBER).update(path, fields)
