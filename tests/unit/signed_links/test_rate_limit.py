"""Spec 8 and design 3: the record that counts one client's calls of one hour."""

from datetime import UTC, datetime, timedelta

from functions.signed_links.limiter import Window

NOW = datetime(2026, 5, 1, 18, 30, tzinfo=UTC)


def window(
    function: str = "f", client: str = "203.0.113.7", key: str = "k", now: datetime = NOW
) -> Window:
    """One that differs in what is given."""
    return Window.of(function, client, secret=key, now=now)


def test_same_hour() -> None:
    """Calls of one hour are counted together, until its end."""
    assert window(now=NOW + timedelta(minutes=29, seconds=59)) == window()
    assert window().expire_at == datetime(2026, 5, 1, 19, tzinfo=UTC)


def test_kept_apart() -> None:
    """Each client, function and hour is counted by itself."""
    others = [
        window(),
        window(client="203.0.113.8"),
        window(function="g"),
        window(now=NOW + timedelta(minutes=30)),
        window(now=NOW - timedelta(minutes=31)),
        window(key="l"),
    ]
    assert len({one.key for one in others}) == len(others)


def test_key_tells_nothing() -> None:
    """Design 3: what is stored is a keyed hash, and a valid document id."""
    assert window().key.isalnum()
    assert len(window().key) == 40
