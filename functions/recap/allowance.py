"""What a tenant may still mail today: so much to an address, and so much in all (spec 8)."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from functions.recap import mailings
from functions.recap.guests import Guest
from functions.recap.ports import MailedDay, Mailings, RecapKey, TakenElsewhereError


@dataclass(frozen=True, slots=True)
class Allowed:
    """Whom a recap may go to.

    Attributes:
        guests: Those who may have one more mail, in the order they were given in.
        mails: How many of them the tenant may mail.
    """

    guests: Sequence[Guest]
    mails: int


class Allowance:
    """The limits of one tenant, for one recap."""

    def __init__(
        self,
        records: Mailings,
        tenant_id: str,
        key: RecapKey,
        now: Callable[[], datetime],
        *,
        an_address: int,
        a_tenant: int,
        reserved: bool,
    ) -> None:
        """Take the limits.

        Args:
            records: What was planned before.
            tenant_id: Of the event.
            key: Of the recap.
            now: The time, aware.
            an_address: Recaps of the tenant that one address gets in 24 hours.
            a_tenant: Mails of the tenant in 24 hours.
            reserved: Whether an earlier call may have put the recap on record.
        """
        self._records = records
        self._tenant_id = tenant_id
        self._recap_id = key.recap_id
        self._now = now
        self._an_address = an_address
        self._a_tenant = min(a_tenant, mailings.MAILS_A_DAY_AT_MOST)
        self._reserved = reserved

    def reserve(
        self, willing: Sequence[Guest], choose: Callable[[Allowed], Iterable[Guest]]
    ) -> None:
        """Put on record whom the recap is to go to: those whom `choose` takes.

        It is asked again where another event of the tenant has been planned meanwhile.
        """
        while True:
            now = self._now()
            found = self._records.load(self._tenant_id, mailings.days(now))
            chosen = [one.id for one in choose(self._allowed(willing, found, now))]
            self._reserved = self._reserved or bool(chosen)
            *before, today = [
                replace(one, entries=mailings.without(one.entries, self._recap_id)) for one in found
            ]
            entries = mailings.with_recap(today.entries, self._recap_id, chosen, now)
            changed = [*before, replace(today, entries=entries)]
            if self._saved(changed, found):
                return

    def look(self, willing: Sequence[Guest], choose: Callable[[Allowed], Iterable[Guest]]) -> None:
        """Ask `choose` as `reserve` would, and put nothing on record."""
        now = self._now()
        choose(self._allowed(willing, self._records.load(self._tenant_id, mailings.days(now)), now))

    def _allowed(
        self, willing: Sequence[Guest], found: Sequence[MailedDay], now: datetime
    ) -> Allowed:
        others = mailings.counted([one.entries for one in found], self._recap_id, now)
        return Allowed(
            [one for one in willing if others.of(one.id) < self._an_address],
            max(self._a_tenant - others.mails, 0),
        )

    def give_back(self) -> None:
        """Take the recap out, as it has sent nothing."""
        while self._reserved:
            found = self._records.load(self._tenant_id, mailings.days(self._now()))
            changed = [
                replace(one, entries=mailings.without(one.entries, self._recap_id)) for one in found
            ]
            self._reserved = not self._saved(changed, found)

    def _saved(self, days: Sequence[MailedDay], found: Sequence[MailedDay]) -> bool:
        """Whether it is on record; if not, it has to be read again."""
        changed = [one for one, was in zip(days, found, strict=True) if one.entries != was.entries]
        try:
            if changed:
                self._records.save(self._tenant_id, changed)
        except TakenElsewhereError:
            return False
        return True
