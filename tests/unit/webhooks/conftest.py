"""Fixtures that most tests of webhooks use."""

from collections.abc import Iterator

import pytest

from tests.unit.webhooks.endpoint_fixture import EndpointFixture
from tests.unit.webhooks.webhook_fixture import WebhookFixture


@pytest.fixture
def webhooks() -> Iterator[WebhookFixture]:
    """Return an event with one URL. In the end, every injected action must have run."""
    made = WebhookFixture()
    yield made
    assert not made.planned


@pytest.fixture
def endpoints() -> Iterator[EndpointFixture]:
    """Return an event without failures. In the end, every injected action must have run."""
    made = EndpointFixture()
    yield made
    assert not made.planned
