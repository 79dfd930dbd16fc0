"""The delivery status of recap emails, recorded from the provider's delivery reports (design 3.60).

    labels ▸ recorded status ▸ new facts ▸ their effects ▸ one commit of facts and counts

The facts of each email are collected, so repeated, late or reordered reports give the same result.
The facts and the recap's counts are written in one commit, under the version that was read. After a
crash before the commit, the provider repeats its reports. The effects come before the commit and
may be repeated, so that every recorded fact has had its effect.
"""

import re
import struct
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Final, NamedTuple, Self

from functions import log, ports
from functions.call.arguments import is_document_id
from functions.email_address import address_hash, guest_uid, identity
from functions.firestore.model import (
    ChangedMeanwhileError,
    Documents,
    Update,
    Version,
    write_as_read,
)
from functions.mail.mail_status import DeliveryReport, DeliveryStatus, Tally
from functions.mail.message import GUEST_LABEL, NOTICE_LABEL, RECAP_LABEL
from functions.preferences.preferences import UNREACHABLE_FOR, Flag
from functions.preferences.user_store import UserStore
from functions.recap.ledger.batch import Batch, RecapKey

# The prefix separates the labels from the email provider's own fields.
_EVENT: Final = "wall_event"
_BATCH: Final = "wall_batch"

_FORMS: Final = {
    RECAP_LABEL: re.compile(r"[A-Za-z0-9]{1,64}", re.ASCII),
    _BATCH: re.compile(r"[0-9]{1,6}", re.ASCII),
    GUEST_LABEL: re.compile(r"[0-9a-f]{32}", re.ASCII),
}
"""The form of each label of an email. `is_document_id` validates the event's."""


class MailLabels(NamedTuple):
    """The identity of one email. `guest_id` identifies the recipient in the ledger."""

    key: RecapKey
    batch: int
    guest_id: str

    def as_texts(self) -> dict[str, str]:
        """Return the labels by name."""
        (event_id, recap_id), batch, guest_id = self
        return {_EVENT: event_id, RECAP_LABEL: recap_id, _BATCH: str(batch), GUEST_LABEL: guest_id}

    @classmethod
    def read(cls, labels: Mapping[str, object]) -> Self | None:
        """Parse the labels of a recap email. Return None if a label is missing or malformed."""
        texts = {name: label for name, label in labels.items() if isinstance(label, str)}
        fit = all(form.fullmatch(texts.get(name, "")) for name, form in _FORMS.items())
        if not fit or not is_document_id(texts.get(_EVENT)):
            return None
        key = RecapKey(texts[_EVENT], texts[RECAP_LABEL])
        return cls(key, int(texts[_BATCH]), texts[GUEST_LABEL])


_ENTRY: Final = struct.Struct(">16sB")
"""A guest's hash, as in the ledger, and the status. So 5,000 emails need 85 KB of one document, and
a request writes one document for any number of emails of a recap. A map would need 205 KB, and
10,000 entries in indexes."""


def read_entries(entries: bytes) -> dict[str, DeliveryStatus]:
    """Return the statuses by guest ID."""
    return {guest.hex(): DeliveryStatus(facts) for guest, facts in _ENTRY.iter_unpack(entries)}


def entries_of(statuses: Mapping[str, DeliveryStatus]) -> bytes:
    """Return the entries for `statuses`, ordered by guest ID."""
    return b"".join(
        _ENTRY.pack(bytes.fromhex(guest), int(facts)) for guest, facts in sorted(statuses.items())
    )


@dataclass(frozen=True, slots=True)
class StoredStatuses:
    """The recorded statuses of a recap's emails.

    Attributes:
        sent_to: Guests who may have an email of the requested batches, by batch number.
        statuses: The statuses by guest ID.
        complaints: IDs of the guests who complained.
        version: None before the first status.
    """

    sent_to: Mapping[int, Collection[str]]
    statuses: Mapping[str, DeliveryStatus]
    complaints: frozenset[str]
    version: Version | None


@dataclass(frozen=True, slots=True)
class StatusStore:
    """Stores the delivery statuses of recap emails. Every method is one round trip."""

    documents: Documents

    def load(self, key: RecapKey, batches: Collection[int]) -> StoredStatuses:
        """Return the recorded statuses of a recap, empty if the recap does not exist."""
        paths = map(key.batch_path, sorted(batches))
        found, *ledger = self.documents.get_all([_statuses(key), *paths])
        sent = map(Batch.read, filter(None, ledger))
        return StoredStatuses(
            {batch.number: frozenset(batch.mailed) for batch in sent},
            read_entries(found.fields["entries"]) if found else {},
            frozenset(found.fields.get("complaints", {}) if found else ()),
            found.version if found else None,
        )

    def tenant_and_sent(self, key: RecapKey) -> tuple[str, int]:
        """Return the tenant of a recap and the number of its emails."""
        fields = recap.fields if (recap := self.documents.get(key.path)) else {}
        return fields.get("tenantId", ""), fields.get("sent", 0)

    def save(self, key: RecapKey, stored: StoredStatuses, change: Tally) -> None:
        """Replace the statuses and complaints, and add `change` to the recap's counts.

        Raises:
            ChangedMeanwhileError: The document has another version, or the recap was deleted.
        """
        fields = {
            "entries": entries_of(stored.statuses),
            "complaints": dict.fromkeys(stored.complaints, True),
        }
        self.documents.commit(
            write_as_read(_statuses(key), fields, stored.version),
            # An update fails if the recap was deleted, so it writes no data under a deleted event.
            Update(key.path, add=asdict(change)),
        )


def _statuses(key: RecapKey) -> str:
    return f"{key.path}/outcomes/mails"


_WITH_EFFECT: Final = DeliveryStatus.UNWELCOME | DeliveryStatus.UNREACHABLE

MANY_COMPLAINTS_PER_THOUSAND: Final = 3
MANY_COMPLAINTS: Final = 4
"""Addresses that complained about a recap. Large mailbox providers reject a sender from 3 in 1,000
on, and all tenants send from one domain."""

_PAUSES: Final = (0.05, 0.1, 0.2, 0.4, 0.8, 1.0, 1.0, 1.0, 1.0)
"""Seconds between tries while several requests write about one recap. Each time one succeeds."""


@dataclass(frozen=True, slots=True)
class _EmailReport:
    """Everything that one request reports about one email."""

    labels: MailLabels
    status: DeliveryStatus


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryReportRecorder:
    """Records delivery reports. Shared by all threads of the process.

    Attributes:
        recaps_in_parallel: Handles the recaps of a request in parallel.
        guests_in_parallel: Handles the guests of each recap in parallel.
    """

    statuses: StatusStore
    users: UserStore
    clock: ports.Clock
    recaps_in_parallel: ports.ParallelMap
    guests_in_parallel: ports.ParallelMap

    def record(self, reports: Iterable[DeliveryReport]) -> int:
        """Record the new facts in `reports` and return the number of emails with new facts.

        Reports about emails that no ledger contains are ignored. So are reports with a label that
        is not the hash of their address, because a forged report must not opt another person out.

        Raises:
            Exception: Some reports were not recorded. The provider has to repeat the request.
        """
        reports = list(reports)
        ended = self.guests_in_parallel(self._suppress, _unwelcome_notices(reports))
        return len(ended) + sum(self.recaps_in_parallel(self._record, _by_recap(reports).items()))

    def _suppress(self, address: str) -> None:
        """Suppress an address after a spam complaint about, or a bounce of, a notice."""
        self.users.mark_unreachable(guest_uid(address), self.clock.now() + UNREACHABLE_FOR)
        log.info("notice.ended", address=address)

    def _record(self, recap: tuple[RecapKey, Mapping[str, _EmailReport]]) -> int:
        key, reports = recap
        batches = {report.labels.batch for report in reports.values()}
        for pause in (*_PAUSES, None):
            found = self.statuses.load(key, batches)
            changed = _changed(found, reports)
            if not changed:
                return 0
            try:
                self._record_statuses(key, reports, found, changed)
                break
            except ChangedMeanwhileError:
                if pause is None:
                    raise  # the provider has to repeat the request
                self.clock.sleep(pause)
        return len(changed)

    def _record_statuses(
        self,
        key: RecapKey,
        reports: Mapping[str, _EmailReport],
        found: StoredStatuses,
        changed: Mapping[str, DeliveryStatus],
    ) -> None:
        known = {guest: found.statuses.get(guest, DeliveryStatus.NONE) for guest in changed}
        new = {guest: facts & ~known[guest] for guest, facts in changed.items()}
        self.guests_in_parallel(
            lambda guest: self._apply_effects(reports[guest], new[guest]),
            [guest for guest, facts in new.items() if facts & _WITH_EFFECT],
        )
        change = Tally.of(changed.values()) - Tally.of(known.values())
        complaints = found.complaints | {
            guest for guest, facts in new.items() if DeliveryStatus.COMPLAINED in facts
        }
        if complaints > found.complaints:
            self._alert(key, len(complaints))
        stored = replace(found, statuses={**found.statuses, **changed}, complaints=complaints)
        self.statuses.save(key, stored, change)

    def _alert(self, key: RecapKey, complained: int) -> None:
        """Log a recap about which many addresses have complained (spec 8)."""
        tenant_id, sent = self.statuses.tenant_and_sent(key)
        many = complained * 1000 >= MANY_COMPLAINTS_PER_THOUSAND * sent
        if many and complained >= MANY_COMPLAINTS:
            log.error(
                "recap.complaints",
                tenantId=tenant_id,
                eventId=key.event_id,
                recapId=key.recap_id,
                complained=complained,
                sent=sent,
            )

    def _apply_effects(self, report: _EmailReport, new: DeliveryStatus) -> None:
        now = self.clock.now()
        address = guest_uid(report.labels.guest_id)
        if DeliveryStatus.UNWELCOME in new:
            self.users.choose(self.users.of_address(address), {Flag.RECAP: False}, now)
        if DeliveryStatus.UNREACHABLE in new:
            self.users.mark_unreachable(address, now + UNREACHABLE_FOR)


def _changed(
    found: StoredStatuses, reports: Mapping[str, _EmailReport]
) -> dict[str, DeliveryStatus]:
    """Return the new status of each email in the ledger with new facts in `reports`."""
    changed = {}
    for guest, report in reports.items():
        known = found.statuses.get(guest, DeliveryStatus.NONE)
        # A guest with a status has moved to another batch if the request of this one was refused.
        has_mail = known or guest in found.sent_to.get(report.labels.batch, ())
        if has_mail and report.status not in known:
            changed[guest] = known | report.status
    return changed


def _unwelcome_notices(reports: Iterable[DeliveryReport]) -> set[str]:
    """Return the hashes of addresses with a spam complaint about, or a bounce of, a notice."""
    unwelcome = (report for report in reports if report.status & _WITH_EFFECT)
    hashes = ((address_hash(identity(report.address)), report.labels) for report in unwelcome)
    return {address for address, labels in hashes if labels.get(NOTICE_LABEL) == address}


def _by_recap(
    reports: Iterable[DeliveryReport],
) -> Mapping[RecapKey, Mapping[str, _EmailReport]]:
    recaps: dict[RecapKey, dict[str, _EmailReport]] = defaultdict(dict)
    for report in reports:
        labels = MailLabels.read(report.labels)
        if labels is None or labels.guest_id != address_hash(identity(report.address)):
            continue
        by_guest = recaps[labels.key]
        earlier = by_guest.get(labels.guest_id)
        status = report.status | earlier.status if earlier else report.status
        by_guest[labels.guest_id] = _EmailReport(labels, status)
    return recaps
