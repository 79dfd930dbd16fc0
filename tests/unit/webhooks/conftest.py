"""Where most tests of webhooks begin."""

import pytest

from tests.unit.webhooks.evening import Evening
from tests.unit.webhooks.parts import Parts


@pytest.fixture
def parts() -> Parts:
    """An event with one URL."""
    return Parts()


@pytest.fixture
def evening() -> Evening:
    """Nothing has failed."""
    return Evening()
