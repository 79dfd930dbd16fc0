"""Spec 4.4: new values of flags. `test_mailbox_preferences.py` has the flags in user records."""

import pytest

from functions.call.errors import CallError
from functions.preferences.preferences import read_choices


@pytest.mark.parametrize(
    ("data", "hint"),
    [
        (None, "object"),
        ({}, "object"),
        ([], "object"),
        ({"transactional": False}, "can.t be turned off"),
        ({"transactional": True}, "transactional"),
        ({"newsletter": False}, "recap"),
        ({"recap": False, "emailPreferences.x": False}, "recap"),
        ({"recap": 1}, "true or false"),
        ({"recap": None}, "true or false"),
        ({"recap": False, "lifecycle": 0}, "true or false"),
        ({"recap": "false"}, "true or false"),
        ({"recaps": False}, r'^Unknown argument "recaps" in preferences. Did you mean recap\?$'),
    ],
)
def test_invalid_choices_are_rejected(data: object, hint: str) -> None:
    """The error names the valid choices."""
    with pytest.raises(CallError, match=hint):
        read_choices(data)
