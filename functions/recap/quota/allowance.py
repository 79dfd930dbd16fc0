"""The guests to whom a recap may go: the limits of a call, a mailbox and a tenant (spec 8)."""

from collections import Counter
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
        per_address: Recaps of a tenant to one mailbox in 24 hours.
        per_tenant: Mails of a tenant in 24 hours.
    """

    per_call: int = RECIPIENTS_PER_CALL
    per_address: int = 3
    per_tenant: int = 20_000


@dataclass(frozen=True, slots=True)
class Allowed:
    """The guests to whom a recap may go.

    Attributes:
        guests: The recipients, in order.
        left: Number of guests for whom no mail is left.
        over_limit: Number of guests whose mailbox had its maximum.
        tenant_limited: Whether the tenant's maximum of mails is below the number of guests.
    """

    guests: Sequence[Guest]
    left: int
    over_limit: int
    tenant_limited: bool


def allowed(guests: Sequence[Guest], others: Counted, limits: RecapLimits) -> Allowed:
    """The recipients among `guests`, who are in order; `others` are the mails of other recaps."""
    of_mailbox: Counter[str] = Counter()
    eligible = []
    for guest in guests:
        of_mailbox[guest.mailbox] += 1
        if others.of(guest.mailbox) + of_mailbox[guest.mailbox] <= limits.per_address:
            eligible.append(guest)
    mails = max(min(limits.per_tenant, mailings.MAX_MAILS_PER_DAY) - others.total(), 0)
    chosen = eligible[: min(limits.per_call, mails)]
    return Allowed(
        chosen,
        left=len(eligible) - len(chosen),
        over_limit=len(guests) - len(eligible),
        tenant_limited=mails < min(limits.per_call, len(eligible)),
    )
