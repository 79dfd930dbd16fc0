"""What the tests of preferences share."""

import pytest

from tests.unit.preferences.account_fixture import AccountFixture


@pytest.fixture
def accounts() -> AccountFixture:
    """Nobody has a record."""
    return AccountFixture()
