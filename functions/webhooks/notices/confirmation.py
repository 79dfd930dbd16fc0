"""Who of the addresses that an admin has named wants a tenant's notices (design 3.28).

An address gets one mail that asks; it gets notices only after its owner has confirmed. The mail
that asks holds no word of the tenant's people. Both kinds are counted by address and by tenant.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Protocol

from functions import log
from functions.consents.consent import ASKED_AGAIN_AFTER, State, StoredConsent, consent_id
from functions.mail.message import EmailMessage
from functions.mail.outcome import Accepted, Unknown
from functions.mail.provider import Mailer
from functions.wall.address import normalised
from functions.webhooks.notices.addressees import Addressee


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of mails: its name, and how many leave in a day to an address and for a tenant.

    The address is counted for all tenants together.
    """

    name: str
    to_an_address: int
    of_a_tenant: int


NOTICES: Final = Kind("notices", to_an_address=24, of_a_tenant=200)
QUESTIONS: Final = Kind("questions about notices", to_an_address=3, of_a_tenant=20)


class Consents(Protocol):
    """What the owners of addresses have said; see `consents.store`."""

    def load(self, ids: Sequence[str]) -> Sequence[StoredConsent | None]:
        """The consents with these ids, None in the place of each that is not there."""

    def ask(self, consent_id: str, found: StoredConsent | None, at: datetime) -> bool:
        """Record a question; False where something else was written since `found` was read."""

    def write(self, consent_id: str, state: State, at: datetime) -> None:
        """Record a state in place of the recorded one."""


class Confirmation:
    """Finds those who want notices, and asks those who have not been asked."""

    def __init__(
        self,
        *,
        consents: Consents,
        counts: Callable[[Kind, str, int], bool],
        mailer: Callable[[], Mailer],
        question: Callable[[str, str], EmailMessage],
        end_link: Callable[[str], str],
        now: Callable[[], datetime],
    ) -> None:
        """Put the parts together.

        Args:
            consents: What the owners of addresses have said.
            counts: Counts a mail of a kind under a name, for which there may be so many a day;
                False where that is one too many.
            mailer: Gives the mail service, with its key of the moment.
            question: Writes the mail that asks an address about the consent with an id.
            end_link: Gives the link that ends the consent with an id.
            now: The time, aware and in UTC.
        """
        self._consents = consents
        self._counts = counts
        self._mailer = mailer
        self._question = question
        self._end_link = end_link
        self._now = now

    def willing(self, tenant_id: str, addresses: Sequence[str]) -> Sequence[Addressee]:
        """Those of `addresses` that one more notice may go to; those never asked are asked.

        Raises:
            Exception: a fault of our own, or of the mail service's settings.
        """
        ids = [consent_id(tenant_id, address) for address in addresses]
        found = self._consents.load(ids)
        willing = []
        for address, name, stored in zip(addresses, ids, found, strict=True):
            if stored is None or stored.consent.may_be_asked(self._now()):
                self._ask(tenant_id, address, name, stored)
            elif stored.consent.state is State.CONFIRMED and self._may_leave(
                NOTICES, tenant_id, address
            ):
                willing.append(Addressee(address, name, self._end_link(name)))
        return willing

    def _ask(self, tenant_id: str, address: str, name: str, stored: StoredConsent | None) -> None:
        if not self._may_leave(QUESTIONS, tenant_id, address):
            return
        message, mailer, now = self._question(address, name), self._mailer(), self._now()
        if not self._consents.ask(name, stored, now):
            return  # somebody else is asking
        outcome = mailer.send(message)
        if isinstance(outcome, Accepted):
            log.info("notice.asked", consentId=name)
            return
        log.warning("notice.not-asked", consentId=name, reason=type(outcome).__name__)
        if not isinstance(outcome, Unknown):  # it has certainly not left, and may be asked again
            self._consents.write(name, State.ASKED, now - ASKED_AGAIN_AFTER)

    def _may_leave(self, kind: Kind, tenant_id: str, address: str) -> bool:
        counted = (
            (f"tenant {tenant_id}", kind.of_a_tenant),
            (f"address {normalised(address)}", kind.to_an_address),
        )
        for name, at_most in counted:
            if not self._counts(kind, name, at_most):
                log.warning("notice.limited", kind=kind.name, of=name.partition(" ")[0])
                return False
        return True
