"""What a mail service tells of recap mails, put on record (design 3).

    labels ▸ what is on record ▸ what is new in it ▸ its effects ▸ one commit of facts and counts

Facts are collected for each mail, so that what is told twice, late, or in another order comes to
the same. The facts and what the recap counts of them move in one commit, under the version that was
read: a crash before it leaves everything to be told again, one after it nothing. The effects come
before it and may be repeated: nothing that is on record as known was without its effect.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from functions.mail.fate import NOTHING_YET, Fate, Tally
from functions.mail.told import Told
from functions.preferences.preferences import Flag, email_address
from functions.preferences.reach import KEPT
from functions.recap.labels import MailLabels
from functions.recap.mail_events.complaint_watch import ComplaintWatch
from functions.recap.mail_events.ports import Outcomes, StoredOutcomes, Users
from functions.recap.ports import RecapKey, TakenElsewhereError
from functions.side_by_side import SideBySide
from functions.wall.address import address_hash, guest_uid, normalised

_WITH_EFFECT: Final = Fate.UNWELCOME | Fate.UNREACHABLE

_PAUSES: Final = (0.05, 0.1, 0.2, 0.4, 0.8, 1.0, 1.0, 1.0, 1.0)
"""Seconds between tries, where several requests have news of one recap at the same moment. Each
time one of them gets through."""


class StillBusyError(Exception):
    """Others have written about the same recap all the time; it has to be told again."""


@dataclass(frozen=True, slots=True)
class _News:
    """What is told of one mail, all of it together."""

    labels: MailLabels
    fate: Fate


class MailEvents:
    """Puts on record what is told; one instance serves all threads of the process."""

    def __init__(
        self,
        *,
        outcomes: Outcomes,
        users: Users,
        complaints: ComplaintWatch,
        now: Callable[[], datetime],
        sleep: Callable[[float], None],
        recaps_side_by_side: SideBySide,
        guests_side_by_side: SideBySide,
    ) -> None:
        """Put the parts together.

        Args:
            outcomes: What is on record.
            users: The user records.
            complaints: Looks at the tenant of a recap that guests complain about.
            now: The time, aware and in UTC.
            sleep: Waits for some seconds.
            recaps_side_by_side: For the recaps that are told of.
            guests_side_by_side: For the guests of a recap who are not to be mailed any more; from
                within the other one.
        """
        self._outcomes = outcomes
        self._users = users
        self._complaints = complaints
        self._now = now
        self._sleep = sleep
        self._recaps_side_by_side = recaps_side_by_side
        self._guests_side_by_side = guests_side_by_side

    def record(self, told: Iterable[Told]) -> int:
        """Put on record what is new in it; of how many mails something was.

        What is told of mails that are not in a ledger of ours is left alone.

        Raises:
            Exception: not all of it could be recorded, and it has to be told again.
        """
        return sum(self._recaps_side_by_side(self._record, _by_recap(told).items()))

    def _record(self, recap: tuple[RecapKey, Mapping[str, _News]]) -> int:
        key, news = recap
        changed = self._put_new_on_record(key, news)
        if any(Fate.COMPLAINED in mail.fate for mail in news.values()):
            # Also of a complaint that is known: the request before may have ended ahead of this.
            self._complaints.look(key)
        return changed

    def _put_new_on_record(self, key: RecapKey, news: Mapping[str, _News]) -> int:
        batches = {one.labels.batch for one in news.values()}
        for pause in (*_PAUSES, None):
            found = self._outcomes.load(key, batches)
            changed = _changed(found, news)
            if not changed:
                return 0
            try:
                self._put_on_record(key, news, found, changed)
            except TakenElsewhereError:
                if pause is not None:
                    self._sleep(pause)
            else:
                return len(changed)
        raise StillBusyError

    def _put_on_record(
        self,
        key: RecapKey,
        news: Mapping[str, _News],
        found: StoredOutcomes,
        changed: Mapping[str, Fate],
    ) -> None:
        known = {guest: found.fates.get(guest, NOTHING_YET) for guest in changed}
        new = {guest: facts & ~known[guest] for guest, facts in changed.items()}
        self._guests_side_by_side(
            lambda guest: self._have_effect(news[guest].labels, new[guest]),
            [guest for guest, facts in new.items() if facts & _WITH_EFFECT],
        )
        change = Tally.of(changed.values()) - Tally.of(known.values())
        self._outcomes.save(key, {**found.fates, **changed}, change, found.version)

    def _have_effect(self, mail: MailLabels, new: Fate) -> None:
        if Fate.UNWELCOME in new:
            self._users.choose(self._record_of(mail), {Flag.RECAP: False})
        if Fate.UNREACHABLE in new:
            # In the record that a recap reads of every guest, with or without an account.
            self._users.mark_unreachable(guest_uid(mail.guest_id), self._now() + KEPT)

    def _record_of(self, mail: MailLabels) -> str:
        """The user record in which the recipient looks after their choices.

        An account has to be of the address that the ledger knows by its hash: no label can turn
        anybody else's mails off.
        """
        if mail.uid.startswith(guest_uid("")):
            return guest_uid(mail.guest_id)
        address = email_address(self._users.find(mail.uid))
        own = address_hash(normalised(address)) == mail.guest_id
        return mail.uid if own else guest_uid(mail.guest_id)


def _changed(found: StoredOutcomes, news: Mapping[str, _News]) -> dict[str, Fate]:
    """What is known from now on of each mail of the ledger of which that is more than before."""
    changed = {}
    for guest, one in news.items():
        known = found.fates.get(guest, NOTHING_YET)
        if one.fate not in known and guest in found.sent_to.get(one.labels.batch, ()):
            changed[guest] = known | one.fate
    return changed


def _by_recap(told: Iterable[Told]) -> Mapping[RecapKey, Mapping[str, _News]]:
    found: dict[RecapKey, dict[str, _News]] = defaultdict(dict)
    for one in told:
        labels = MailLabels.read(one.labels)
        if labels is None:
            continue
        of_recap = found[RecapKey(labels.event_id, labels.recap_id)]
        known = of_recap.get(labels.guest_id)
        fate = one.fate | known.fate if known else one.fate
        of_recap[labels.guest_id] = _News(labels, fate)
    return found
