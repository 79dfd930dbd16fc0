"""The limits of a call, a mailbox and a tenant: the guests to whom a recap may go (spec 8)."""

from collections.abc import Sequence
from dataclasses import dataclass

from functions.recap.audience.guests import Guest
from functions.recap.ledger.batch import RECIPIENTS_PER_CALL
from functions.recap.quota import mailings
from functions.recap.quota.mailings import Counted


@dataclass(frozen=True, slots=True, kw_only=True)
class RecapLimits:
    """The limits on recap mails.

    Attributes:
        per_call: Recipients of one call.
        per_address: Recaps of a tenant to one mailbox in 24 hours, however many of its addresses
            a recap has.
        per_tenant: Mails of a tenant in 24 hours.
    """

    per_call: int = RECIPIENTS_PER_CALL
    per_address: int = 3
    per_tenant: int = 20_000

    def mails(self, others: Counted) -> int:
        """The number of mails for a call; `others` are the mails of the tenant's other recaps."""
        of_tenant = min(self.per_tenant, mailings.MAX_MAILS_PER_DAY) - others.mails
        return min(self.per_call, max(of_tenant, 0))

    def eligible(self, guests: Sequence[Guest], others: Counted) -> Sequence[Guest]:
        """The guests, in order, whose mailbox has not had its maximum of other recaps."""
        return [guest for guest in guests if others.recaps_of(guest.mailbox) < self.per_address]
