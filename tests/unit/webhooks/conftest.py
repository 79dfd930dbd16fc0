"""Where most tests of webhooks begin."""

from collections.abc import Iterator

import pytest

from tests.unit.webhooks.endpoint_fixture import EndpointFixture
from tests.unit.webhooks.webhook_fixture import WebhookFixture


@pytest.fixture
def webhooks() -> Iterator[WebhookFixture]:
    """An event with one URL; all that is planned for a call has to come about."""
    made = WebhookFixture()
    yield made
    assert not made.planned


@pytest.fixture
def endpoints() -> Iterator[EndpointFixture]:
    """Nothing has failed; all that is planned for a call has to come about."""
    made = EndpointFixture()
    yield made
    assert not made.planned
