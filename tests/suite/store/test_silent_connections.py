"""A connection that goes silent, as where a NAT forgets it."""

from concurrent.futures import Future

import pytest


@pytest.mark.last
def test_a_silent_connection_is_given_up(silent: dict[str, Future[float]]) -> None:
    """Calls fail for a minute, and then go over a new connection."""
    took = {name: until.result() for name, until in silent.items()}
    assert all(1 < seconds < 100 for seconds in took.values()), took
