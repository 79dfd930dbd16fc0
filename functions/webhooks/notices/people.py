"""Who is notified when an endpoint fails: `notify` in the webhook settings, and nobody else."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from functions import log
from functions.clock import Clock
from functions.firestore.model import Documents
from functions.mail.address import deliverable
from functions.wall.address import address_hash, guest_uid, normalised
from functions.wall.fields import time

MAILS_TO_AN_ADDRESS: Final = 24
"""In a day, from all tenants."""

MAILS_OF_A_TENANT: Final = 200
"""In a day."""

_UNREACHABLE_UNTIL: Final = "unreachableUntil"
"""Field of the record of an address: it has sent a mail back for good, or complained."""


@dataclass(frozen=True, slots=True)
class People:
    """Chooses the addresses of `notify` that a mail goes to."""

    documents: Documents
    counts: Callable[[str, int], bool]
    """Counts a mail under a name, which may have so many a day; False beyond that."""

    clock: Clock

    def reachable(self, notify: Iterable[str]) -> Sequence[str]:
        """The addresses that mail can go to, each once."""
        addresses: dict[str, str] = {}
        for address in filter(None, map(deliverable, notify)):
            addresses.setdefault(normalised(address), address)
        paths = [f"users/{guest_uid(address_hash(address))}" for address in addresses]
        records = self.documents.get_all(paths, fields=[_UNREACHABLE_UNTIL]) if paths else []
        now = self.clock.now()
        return [
            address
            for address, record in zip(addresses.values(), records, strict=True)
            if not record or (time(record.fields.get(_UNREACHABLE_UNTIL)) or now) <= now
        ]

    def within_limits(self, tenant_id: str, addresses: Iterable[str]) -> Sequence[str]:
        """Those of `addresses` that one more mail may go to; it is counted."""
        return [address for address in addresses if self._may_be_sent(tenant_id, address)]

    def _may_be_sent(self, tenant_id: str, address: str) -> bool:
        for of, name, at_most in (
            ("tenant", tenant_id, MAILS_OF_A_TENANT),
            ("address", normalised(address), MAILS_TO_AN_ADDRESS),
        ):
            if not self.counts(f"{of} {name}", at_most):
                log.warning("notice.limited", of=of)
                return False
        return True
