"""What the tests of preferences share."""

import pytest

from tests.unit.preferences.people import People


@pytest.fixture
def people() -> People:
    """Nobody has a record."""
    return People()
