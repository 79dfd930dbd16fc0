"""Where most tests of webhooks begin."""

from collections.abc import Iterator

import pytest

from tests.unit.webhooks.evening import Evening
from tests.unit.webhooks.parts import Parts


@pytest.fixture
def parts() -> Iterator[Parts]:
    """An event with one URL; all that is planned for a call has to come about."""
    made = Parts()
    yield made
    assert not made.planned


@pytest.fixture
def evening() -> Iterator[Evening]:
    """Nothing has failed; all that is planned for a call has to come about."""
    made = Evening()
    yield made
    assert not made.planned
