"""Fixtures of the tests of preferences."""

import pytest

from tests.unit.preferences.account_fixture import AccountFixture


@pytest.fixture
def accounts() -> AccountFixture:
    """Return accounts without records."""
    return AccountFixture()
