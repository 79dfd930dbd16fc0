"""Who is told when a URL fails: `notify` in the webhook settings, and nobody else."""

from collections.abc import Iterable
from dataclasses import dataclass

from functions.mail.address import deliverable
from functions.wall.address import normalised


@dataclass(frozen=True, slots=True)
class Addressee:
    """An address whose owner wants notices, the id of the consent, and the link that ends it."""

    address: str
    consent_id: str
    end_link: str


def deliverable_of(notify: Iterable[str]) -> tuple[str, ...]:
    """The addresses that mail can go to, each once."""
    first: dict[str, str] = {}
    for address in filter(None, map(deliverable, notify)):
        first.setdefault(normalised(address), address)
    return tuple(first.values())
