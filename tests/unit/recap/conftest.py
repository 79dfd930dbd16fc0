"""Fixtures of most tests of the recap."""

import pytest

from tests.unit.recap.recap_fixture import RecapFixture


@pytest.fixture
def fixture() -> RecapFixture:
    """Return an event without photos, at noon."""
    return RecapFixture()
