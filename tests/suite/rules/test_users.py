"""Changes that users may make to their own record (spec 2.3)."""

from typing import Any, Final

import pytest
from google.cloud.firestore import DELETE_FIELD

from tests.suite.rules.cast import Cast, Who
from tests.suite.rules.client import ADMINISTRATOR, Values, wrongly_judged

CHANGES: Final[Values] = (
    [
        {"emailPreferences": {"lifecycle": False, "recap": False, "marketing": False}},
        {"emailPreferences": {"recap": True}},
        {"emailPreferences": {}},
        {"emailPreferences.marketing": False},
    ],
    [
        {"emailPreferences.transactional": False},
        {"emailPreferences.transactional": True},
        {"emailPreferences.recap": "no"},
        {"emailPreferences.lifecycle": None},
        {"emailPreferences.marketing": 0},
        {"emailPreferences": None},
        {"emailPreferences": DELETE_FIELD},
        {"emailPreferences": ["recap"]},
        {"email": "another@example.com"},
        {"email": "another@example.com", "emailPreferences.recap": False},
        {"email": DELETE_FIELD},
        {"role": "superadmin"},
        {"tenantId": "tenant-a"},
    ],
)


CHANGES_BESIDE_VALUES_OF_A_SCRIPT: Final[Values] = (
    [
        {"emailPreferences.marketing": False},
        {"emailPreferences.recap": True},
        {"emailPreferences.lifecycle": False},
        {"emailPreferences": {"recap": "no"}},
    ],
    [
        {"emailPreferences.recap": "yes"},
        {"emailPreferences.lifecycle": 1},
        {"emailPreferences.marketing": "no"},
    ],
)
CHANGES_OF_WHAT_IS_NO_MAP: Final[Values] = (
    [{"emailPreferences": {"lifecycle": False, "recap": True, "marketing": False}}],
    [{"emailPreferences": "yes"}, {"emailPreferences": {"recap": "no"}}],
)
CHANGES_BESIDE_FLAGS_OF_AN_APP: Final[Values] = (
    [{"emailPreferences.marketing": False}, {"emailPreferences": {"recap": False}}],
    [
        {"emailPreferences.marketing": 0},
        {"emailPreferences.digest": True},
        {"emailPreferences.digest": DELETE_FIELD, "emailPreferences.marketing": False},
        {"emailPreferences.transactional": False},
        {"emailPreferences.other": False},
    ],
)


@pytest.mark.parametrize(
    ("flags", "changes"),
    [
        ({}, CHANGES),
        ({"transactional": True, "digest": False}, CHANGES_BESIDE_FLAGS_OF_AN_APP),
        ({"recap": "no", "lifecycle": 0}, CHANGES_BESIDE_VALUES_OF_A_SCRIPT),
        ("no", CHANGES_OF_WHAT_IS_NO_MAP),
    ],
)
def test_a_user_changes_email_preferences_and_nothing_else(
    cast: Cast, flags: Any, changes: Values
) -> None:
    """Spec 2.3: a user changes three booleans, even if an app wrote other flags."""
    member = cast[Who.MEMBER]
    everything = {"lifecycle": True, "recap": True, "marketing": True}
    preferences = everything | flags if isinstance(flags, dict) else flags

    def is_accepted(fields: Any) -> bool:
        record = {"email": member.email, "emailPreferences": preferences}
        ADMINISTRATOR.replace(f"users/{member.uid}", record)
        return member.update(f"users/{member.uid}", fields)

    assert wrongly_judged(changes, is_accepted) == []
