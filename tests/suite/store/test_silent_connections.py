"""A connection that goes silent, as where a NAT forgets it."""

from concurrent.futures import Future

import pytest


@pytest.mark.last
def test_a_silent_connection_is_given_up(silent: dict[str, Future[float]]) -> None:
    """Calls fail for a while, about a minute where nothing else runs; then they succeed again."""
    took = {name: until.result() for name, until in silent.items()}
    assert all(seconds > 1 for seconds in took.values()), took
