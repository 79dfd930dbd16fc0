"""A tenant's allowance of recap mails per day: by mailbox, and in all (spec 8)."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from functions.documents.refusals import ChangedMeanwhileError
from functions.recap.audience.guests import Guest
from functions.recap.ledger.batch import RECIPIENTS_PER_CALL
from functions.recap.quota import mailings
from functions.recap.quota.mailing_store import MailingStore
from functions.recap.quota.mailings import Counted, Mailed


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
    """The guests that a recap may go to.

    Attributes:
        guests: The recipients, in order.
        left: Number of guests behind them.
        full: Number of guests whose mailbox had its maximum.
        short: Whether the tenant's maximum of mails is below the number of guests.
    """

    guests: Sequence[Guest]
    left: int
    full: int
    short: bool


def allowed(guests: Sequence[Guest], others: Counted, limits: RecapLimits) -> Allowed:
    """The recipients among `guests`, who are in order; `others` are the mails of other recaps."""
    of_mailbox: Counter[str] = Counter()
    waiting = []
    for guest in guests:
        of_mailbox[guest.mailbox] += 1
        if others.of(guest.mailbox) + of_mailbox[guest.mailbox] <= limits.per_address:
            waiting.append(guest)
    mails = max(min(limits.per_tenant, mailings.MAX_MAILS_PER_DAY) - others.mails, 0)
    chosen = waiting[: min(limits.per_call, mails)]
    return Allowed(
        chosen,
        left=len(waiting) - len(chosen),
        full=len(guests) - len(waiting),
        short=mails < min(limits.per_call, len(waiting)),
    )


@dataclass(slots=True, kw_only=True)
class Allowance:
    """What one recap uses of its tenant's allowance.

    `now` gives the time, aware. `reserved` is whether a call may have recorded the recap already.
    """

    store: MailingStore
    tenant_id: str
    recap_id: str
    now: Callable[[], datetime]
    reserved: bool

    def load(self) -> Mailed:
        """The record of the tenant's mails."""
        return self.store.load(self.tenant_id)

    def others(self, found: Mailed) -> Counted:
        """The mails of all other recaps in the record."""
        return mailings.counted(found.entries, self.recap_id, self.now())

    def reserve(self, found: Mailed, mailboxes: Iterable[str]) -> bool:
        """Record the recap's recipients, by mailbox; False where another recap was recorded since.

        The record must be loaded anew then.
        """
        now, chosen = self.now(), list(mailboxes)
        self.reserved = self.reserved or bool(chosen)
        return self._saved(found, mailings.with_recap(found.entries, self.recap_id, chosen, now))

    def give_back(self, is_held: Callable[[], bool]) -> None:
        """Remove the recap from the record, because it sent nothing; its lock must be held.

        A call that takes the lock later records the recap anew. So `is_held` is called after the
        record was read: if another call has the lock by then, the record belongs to that call.
        """
        while self.reserved:
            found = self.load()
            if not is_held():
                return
            entries = mailings.without(found.entries, self.recap_id, self.now())
            self.reserved = not self._saved(found, entries)

    def _saved(self, found: Mailed, entries: bytes) -> bool:
        """Whether the entries are saved; False where the record has to be read again."""
        try:
            if entries != found.entries:
                mailed = replace(found, entries=entries)
                self.store.save(self.tenant_id, mailed, self.now() + mailings.PERIOD)
        except ChangedMeanwhileError:
            return False
        return True
