"""A connection goes silent, for example because a NAT forgets it."""

from concurrent.futures import Future

import pytest


@pytest.mark.last
def test_a_silent_connection_is_replaced(silent: dict[str, Future[float]]) -> None:
    """Calls fail for about a minute if nothing else runs, and then succeed again."""
    took = {name: until.result() for name, until in silent.items()}
    assert all(seconds > 1 for seconds in took.values()), took
