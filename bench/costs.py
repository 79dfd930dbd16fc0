"""Exact costs of operations. Tests check these numbers, and the benchmark adds the prices."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """Firestore calls, documents read and written, tasks, webhook POSTs, and email requests."""

    rpcs: int = 0
    reads: int = 0
    writes: int = 0
    tasks: int = 0
    posts: int = 0
    mail_requests: int = 0


COSTS: Final = {
    # Settings.
    "a photo, no URL": Cost(rpcs=1, reads=1),
    # And one commit.
    "a photo, a URL for photo.uploaded only": Cost(rpcs=2, reads=1, writes=1, tasks=1),
    # And the count of photos, for milestones.
    "a photo, a URL for everything except guest.joined": Cost(rpcs=3, reads=2, writes=1, tasks=1),
    # And the query for the guest's first photo, which is this one.
    "a photo, a URL for everything, a new guest": Cost(rpcs=4, reads=3, writes=2, tasks=2),
    "a photo, 20 URLs for everything, a new guest": Cost(rpcs=4, reads=3, writes=40, tasks=40),
    # Settings, and one commit.
    "an approval, one URL": Cost(rpcs=2, reads=1, writes=1, tasks=1),
    # A transaction that reads the photo and writes the copy.
    "with PUBLIC_WALL, the copy of an approved photo": Cost(rpcs=3, reads=1, writes=1),
    "an edit": Cost(),
    # The event's secret.
    "a new event": Cost(rpcs=1, writes=1),
    # The record: a read and a write.
    "a delivery that succeeds": Cost(rpcs=2, reads=1, writes=1, posts=1),
    # And the settings, which a process caches for five seconds.
    "a delivery that begins late and succeeds": Cost(rpcs=3, reads=2, writes=1, posts=1),
    # The record, the settings, and the record again in the transaction that writes it.
    "a delivery whose URL was removed before a retry": Cost(rpcs=4, reads=3, writes=1),
    # The record four times, and the settings before each retry. Then the record of the failing
    # endpoint: a read and a write.
    "a delivery that fails four times": Cost(rpcs=13, reads=8, writes=5, tasks=3, posts=4),
    # Settings, event, records. Last success, failures, tests among the failures. The record of the
    # address. Counts of emails of the address and of the tenant. First failure, number of waiting
    # deliveries, last failure. The state of the notice.
    "a notice": Cost(rpcs=13, reads=10, writes=3, mail_requests=1),
    # The record, settings, last success, failures, tests among the failures. Then the time of the
    # next check.
    "a check of an endpoint that fails": Cost(rpcs=6, reads=5, writes=1),
    # The records and the settings. For each endpoint its last success, and the next check.
    "a sweep over 20 endpoints of an event": Cost(rpcs=42, reads=41, writes=20),
    # A write that counts the call and returns the count. Account and mailbox in one call.
    "a lookup of preferences": Cost(rpcs=2, reads=2, writes=1),
    # And the other 19 accounts in one more call.
    "a lookup of preferences, 20 accounts": Cost(rpcs=3, reads=21, writes=1),
    # A read and a write of account and mailbox, and the count of the link's changes.
    "an update of preferences": Cost(rpcs=3, reads=2, writes=3),
    # The count of the caller's calls. Event, settings, the share.
    "a link to a log": Cost(rpcs=4, reads=2, writes=2),
    # The count of calls. Event and share, settings. Only the shown deliveries.
    "a page of 50 of a shared log": Cost(rpcs=4, reads=53, writes=1),
    # Reads: event, lock, the lock again in a transaction, and a missing account, 1 each. Photos 5,
    # guest records 5, the tenant's emails of two days. Writes: the call. Lock and recap, in that
    # transaction, which needs a call to begin. Lock, batch and recap. Lock, batch and the tenant's
    # emails. Batch and recap. Lock and recap. Every write that requires the lock also writes it.
    "a recap of 5 guests": Cost(rpcs=13, reads=16, writes=13, mail_requests=1),
    # Reads: photos and guest records 5000 each, 167 queries for accounts, the rest as for 5.
    # Writes: the call. Lock and recap. Lock, 5 batches and recap. 5 writes for each of 5 batches.
    # Lock and recap.
    "a recap of 5,000 guests": Cost(rpcs=197, reads=10_172, writes=37, mail_requests=5),
    # Reads: the status of the recap's emails and its 5 batches, one call. Writes: the status and
    # the recap.
    "reports of 500 emails in one request": Cost(rpcs=2, reads=6, writes=2),
    # Without a new status.
    "the same reports again": Cost(rpcs=1, reads=6),
    # And a read and a write of the preferences of the guest's mailbox, and the recap.
    "a report of a spam complaint": Cost(rpcs=5, reads=4, writes=3),
    # The reads of a recap without the transaction, and the write that counts the call.
    "a preview of a recap of 5 guests": Cost(rpcs=6, reads=15, writes=1),
    "a preview of a recap of 5,000 guests": Cost(rpcs=182, reads=10_171, writes=1),
    # And a write that counts the previews of the mailbox and returns the count.
    "an emailed preview of a recap of 5 guests": Cost(rpcs=7, reads=15, writes=2, mail_requests=1),
}
