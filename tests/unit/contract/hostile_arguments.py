"""Arguments of every kind, for calls that must answer with a code of the specification."""

from typing import Any, Final

VALUES: Final[tuple[Any, ...]] = (
    *(None, True, False, 0, -1, 1.5, 1e308, 10**30, "", " ", "\n", "\0", "x" * 5000),
    *("none", "../..", "a/b", "__x__", ".", "..", "é", "\u202e", "\U0001f600", "' OR 1=1 --"),
    *("https://example.com", "http://[::1", "https://[", "https://\u2100.example", "javascript:1"),
    *("2026-05-01T18:30:00Z", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "2026-W01-1"),
    *("2026-05-01T18:30:00Z~2026-05-01T18:30:00Z~d", "~~", "a.b", "a.b.c", "personal"),
    *([], [[]], ["none"], {}, {"eventId": "none"}, {"": ""}, {"__proto__": {}}),
)
AFTER: Final = (
    *("~", "~~", "~d", "2026-05-01T18:30:00Z~", "2026-05-01T18:30:00Z~d", "2026-05-01~d"),
    *("0001-01-01T00:00:00Z~d", "9999-12-31T23:59:59.999999Z~d", "0001-01-01T00:00:00+14:00~d"),
    *("2026-05-01T18:30:00Z~..", "2026-05-01T18:30:00Z~__x__", "2026-05-01T18:30:00Z~a/b"),
)
"""Cursors in a list of deliveries."""
