"""The project that most tests of the webhooks begin with."""

import pytest

from tests.unit.webhooks.parts import Parts


@pytest.fixture
def parts() -> Parts:
    """An event with one URL that takes everything."""
    return Parts()
