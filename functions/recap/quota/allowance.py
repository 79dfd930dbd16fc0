"""A tenant's allowance of recap mails per day: by address, and in all (spec 8)."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from functions.documents.refusals import ChangedMeanwhileError
from functions.recap.audience.guests import Guest
from functions.recap.ledger.lock import RecapKey
from functions.recap.quota import mailings
from functions.recap.quota.mailing_store import MailingStore
from functions.recap.quota.mailings import Mailed


@dataclass(frozen=True, slots=True)
class Allowed:
    """The guests that a recap may go to.

    Attributes:
        guests: The guests who may get another mail, in the given order.
        mails: How many of them the tenant may mail.
    """

    guests: Sequence[Guest]
    mails: int


class Allowance:
    """The limits of one tenant, for one recap."""

    def __init__(
        self,
        records: MailingStore,
        tenant_id: str,
        key: RecapKey,
        now: Callable[[], datetime],
        *,
        per_address: int,
        per_tenant: int,
        reserved: bool,
        in_time: Callable[[], bool] = lambda: True,
    ) -> None:
        """Take the limits.

        Args:
            records: The tenants' recap mails by day.
            tenant_id: The event's tenant.
            key: The recap.
            now: The time, aware.
            per_address: Recaps of the tenant that one address gets in 24 hours.
            per_tenant: Mails of the tenant in 24 hours.
            reserved: Whether an earlier call may have recorded the recap.
            in_time: Whether the call still has its lease. A later call may have given back the
                allowance of the same recap by then.
        """
        self._records = records
        self._tenant_id = tenant_id
        self._recap_id = key.recap_id
        self._now = now
        self._per_address = per_address
        self._per_tenant = min(per_tenant, mailings.MAX_MAILS_PER_DAY)
        self._reserved = reserved
        self._in_time = in_time

    def reserve(
        self, willing: Sequence[Guest], choose: Callable[[Allowed], Iterable[Guest]]
    ) -> None:
        """Record the recipients that `choose` chooses.

        `choose` is called again where another event of the tenant was planned meanwhile.
        """
        while True:
            now = self._now()
            found = self._records.load(self._tenant_id)
            chosen = [guest.id for guest in choose(self._allowed(willing, found, now))]
            self._reserved = self._reserved or bool(chosen)
            if not self._in_time():
                raise ChangedMeanwhileError
            entries = mailings.with_recap(found.entries, self._recap_id, chosen, now)
            if self._saved(found, entries, now):
                return

    def look(self, willing: Sequence[Guest], choose: Callable[[Allowed], Iterable[Guest]]) -> None:
        """Call `choose` as `reserve` does, and record nothing."""
        choose(self._allowed(willing, self._records.load(self._tenant_id), self._now()))

    def _allowed(self, willing: Sequence[Guest], found: Mailed, now: datetime) -> Allowed:
        others = mailings.counted(found.entries, self._recap_id, now)
        return Allowed(
            [guest for guest in willing if others.of(guest.id) < self._per_address],
            max(self._per_tenant - others.mails, 0),
        )

    def give_back(self, is_held: Callable[[], bool]) -> None:
        """Remove the recap from the record, because it sent nothing; its lock must be held.

        A call that takes the lock later records the recap anew. So `is_held` is called after the
        record was read: if another call has the lock by then, the record belongs to that call.
        """
        while self._reserved:
            now = self._now()
            found = self._records.load(self._tenant_id)
            if not is_held():
                return
            entries = mailings.without(found.entries, self._recap_id, now)
            self._reserved = not self._saved(found, entries, now)

    def _saved(self, found: Mailed, entries: bytes, now: datetime) -> bool:
        """Whether the entries are saved; False where the record has to be read again."""
        try:
            if entries != found.entries:
                mailed = replace(found, entries=entries)
                self._records.save(self._tenant_id, mailed, now + mailings.PERIOD)
        except ChangedMeanwhileError:
            return False
        return True
