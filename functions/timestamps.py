"""Times on the wire: ISO 8601, UTC, milliseconds, `Z` (spec 6, design 4)."""

from datetime import UTC, datetime


def wire_time(moment: datetime) -> str:
    """`2026-05-01T18:30:00.000Z` for an aware `moment`, truncated to milliseconds."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
