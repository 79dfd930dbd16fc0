"""Who is told when a URL fails: `notify` in the webhook settings, and nobody else."""

from collections.abc import Mapping
from typing import Any, Final

from functions.mail.address import deliverable
from functions.wall.address import normalised

MAX_ADDRESSES: Final = 5


def read(settings: Mapping[str, Any] | None) -> tuple[str, ...]:
    """The first five entries, those of them that mail can go to, each once.

    The rules let clients write nothing else; a script may have.
    """
    entries = (settings or {}).get("notify")
    if not isinstance(entries, list):
        return ()
    found = [deliverable(one.strip()) for one in entries[:MAX_ADDRESSES] if isinstance(one, str)]
    first: dict[str, str] = {}
    for one in found:
        if one:
            first.setdefault(normalised(one), one)
    return tuple(first.values())
