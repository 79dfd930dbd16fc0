"""The limits of a tenant: recaps and previews at work, and recap mails in 24 hours (spec 8).

Recaps and previews have slots in each instance, of which no tenant takes them all. Cloud Run admits
more calls: a call whose body arrives slowly counts at Cloud Run, and holds no slot here. A plain
`BoundedSemaphore` would let one tenant hold every slot for minutes.

A mail counts from the moment that any event of the tenant plans it; a recap that sent nothing is
removed again before its lock is free. A tenant has one list of 16-byte entries (recap,
time, mailbox): 20,000 mails a day take 320 KB, and would take more than a document's megabyte as
text. The list contains no address, and no entry older than 24 hours.
"""

import hashlib
import itertools
import struct
import threading
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from functions import log
from functions.call.errors import CallError, Code
from functions.firestore.model import ChangedMeanwhileError, Documents, Version, write_as_read
from functions.recap.ledger.batch import RecapState

if TYPE_CHECKING:
    from functions.recap.ledger.claim import Claim

SLOTS: Final = 5
SLOTS_PER_TENANT: Final = 2


@dataclass(slots=True, eq=False)
class Slots:
    """The slots; one instance serves all threads of the process.

    `seconds` is how long a call waits for a slot.
    """

    seconds: float = 20.0
    _changed: threading.Condition = field(default_factory=threading.Condition)
    _taken: Counter[str] = field(default_factory=Counter)

    @contextmanager
    def slot(self, tenant_id: str, *, waits: bool = True) -> Iterator[None]:
        """Hold a slot for a call of that tenant; `waits` says whether it waits for a free one.

        Raises:
            CallError: `resource-exhausted` if no slot is free in time.
        """

        def is_free() -> bool:
            return self._taken[tenant_id] < SLOTS_PER_TENANT and self._taken.total() < SLOTS

        with self._changed:
            if not self._changed.wait_for(is_free, self.seconds if waits else 0):
                all_own = self._taken[tenant_id] >= SLOTS_PER_TENANT
                taken = (
                    f"{SLOTS_PER_TENANT} calls for your events are at work"
                    if all_own
                    else "All places are taken"
                )
                raise CallError(
                    Code.RESOURCE_EXHAUSTED,
                    f"{taken} right now; call again in a minute.",
                    {"reason": "busy"},
                )
            self._taken[tenant_id] += 1
        try:
            yield
        finally:
            with self._changed:
                self._taken -= Counter([tenant_id])
                self._changed.notify_all()


PERIOD: Final = timedelta(hours=24)

MAX_MAILS_PER_DAY: Final = 60_000
"""Mails that one document has room for; a larger `RECAP_MAILS_PER_DAY` has no effect."""

_ENTRY: Final = struct.Struct(">II8s")
_MAILBOX_DIGITS: Final = 16
"""Digits kept of a mailbox's hash: two of a million share them once in 10,000,000 cases."""


@dataclass(frozen=True, slots=True)
class Counted:
    """What other recaps planned in the last 24 hours: their mails, and recaps by mailbox."""

    mails: int
    recaps: Counter[bytes]

    def recaps_of(self, mailbox: str) -> int:
        """Number of recaps to any address of the mailbox."""
        return self.recaps[_start(mailbox)]


def tenant_key(tenant_id: str) -> str:
    """The tenant's id as a document's: a claim can hold texts that no document can be called."""
    return hashlib.sha256(tenant_id.encode()).hexdigest()[:32]


def counted(entries: bytes, recap_id: str, now: datetime) -> Counted:
    """Count the entries of other recaps than `recap_id`."""
    others = [(recap, mailbox) for recap, _, mailbox in _others(entries, recap_id, now)]
    return Counted(len(others), Counter(mailbox for _, mailbox in set(others)))


def without_mailbox(entries: bytes, mailbox: str) -> bytes:
    """The entries but for those of the mailbox, which is to be forgotten."""
    own = _start(mailbox)
    return b"".join(
        _ENTRY.pack(recap, at, mailbox)
        for recap, at, mailbox in _ENTRY.iter_unpack(entries)
        if mailbox != own
    )


def with_recap(entries: bytes, recap_id: str, mailboxes: Iterable[str], now: datetime) -> bytes:
    """The entries of the last 24 hours, with those of the recap replaced by these mailboxes'."""
    recap, at = _recap(recap_id), int(now.timestamp())
    added = ((recap, at, _start(mailbox)) for mailbox in mailboxes)
    kept = _others(entries, recap_id, now)
    return b"".join(_ENTRY.pack(*entry) for entry in itertools.chain(kept, added))


def _others(entries: bytes, recap_id: str, now: datetime) -> Iterator[tuple[int, int, bytes]]:
    since, own = int((now - PERIOD).timestamp()), _recap(recap_id)
    for recap, at, mailbox in _ENTRY.iter_unpack(entries):
        if at > since and recap != own:
            yield recap, at, mailbox


def _recap(recap_id: str) -> int:
    return zlib.crc32(recap_id.encode())


def _start(mailbox: str) -> bytes:
    return bytes.fromhex(mailbox[:_MAILBOX_DIGITS])


@dataclass(frozen=True, slots=True, kw_only=True)
class RecapLimits:
    """The limits on recap mails.

    Attributes:
        per_call: Recipients of one call.
        per_address: Recaps of a tenant to one mailbox in 24 hours, however many of its addresses
            a recap has.
        per_tenant: Mails of a tenant in 24 hours.
    """

    per_call: int = 5000
    per_address: int = 3
    per_tenant: int = 20_000

    def mails(self, others: Counted) -> int:
        """The number of mails for a call; `others` are the mails of the tenant's other recaps."""
        of_tenant = min(self.per_tenant, MAX_MAILS_PER_DAY) - others.mails
        return min(self.per_call, max(of_tenant, 0))


@dataclass(frozen=True, slots=True)
class MailingStore:
    """The recap mails of the last 24 hours: one record per tenant, one round trip for each."""

    documents: Documents

    def load(self, tenant_id: str) -> tuple[bytes, Version | None]:
        """The tenant's entries and their version, which is None before the first record."""
        found = self.documents.get(_path(tenant_id))
        return (found.fields["entries"], found.version) if found else (b"", None)

    def save(self, tenant_id: str, version: Version | None, entries: bytes, now: datetime) -> None:
        """Replace the entries of that `version`; the record may be deleted when all are too old.

        Raises:
            ChangedMeanwhileError: the record was written meanwhile.
        """
        fields = {"entries": entries, "expireAt": now + PERIOD}
        self.documents.commit(write_as_read(_path(tenant_id), fields, version))

    def release(self, claim: "Claim", *, failed: bool = False) -> RecapState | None:
        """Release the lock of a call; returns the recap's state, None where it is not recorded.

        A recap without mails gives back its allowance first: after a crash in between, the next
        call continues the same recap, so that it counts once. After the release it would be a new
        one.
        """
        try:
            state = claim.state(failed=failed)
            if state in (RecapState.FAILED, RecapState.EMPTY):
                self._give_back(claim)
            return claim.release(state)
        except Exception as error:  # noqa: BLE001 - the answer matters more, and the lease ends
            event_id, recap_id = claim.key
            log.fault("recap.held", error, eventId=event_id, recapId=recap_id)
            return None

    def _give_back(self, claim: "Claim") -> None:
        """Remove the recap from the tenant's allowance.

        A call that takes the lock later records the recap anew. So the lock is read after the
        allowance: if another call has the lock by then, the entries belong to that call. The
        allowance is written even if the recap is not in it, so that a call that was held up since
        before its lease ended cannot record the recap any more.
        """
        while True:
            found, version = self.load(claim.tenant_id)
            now = claim.clock.now()
            if not claim.is_held:
                return
            entries = with_recap(found, claim.key.recap_id, [], now)
            with suppress(ChangedMeanwhileError):
                self.save(claim.tenant_id, version, entries, now)
                return


def _path(tenant_id: str) -> str:
    return f"recapMails/{tenant_key(tenant_id)}"
