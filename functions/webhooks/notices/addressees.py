"""Who is told when a URL fails: `notify` in the webhook settings, and nobody else."""

from collections.abc import Iterable

from functions.mail.address import deliverable
from functions.wall.address import normalised


def deliverable_of(notify: Iterable[str]) -> tuple[str, ...]:
    """The addresses that mail can go to, each once."""
    first: dict[str, str] = {}
    for address in filter(None, map(deliverable, notify)):
        first.setdefault(normalised(address), address)
    return tuple(first.values())
