"""The house of most tests of the recap."""

import pytest

from tests.unit.recap.parts import House


@pytest.fixture
def house() -> House:
    """An event without photos, at noon."""
    return House()
