"""What pieces of work cost, exactly: the tests hold these numbers, the benchmark prices them."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """Firestore calls, documents read and written, tasks queued, webhooks posted, mail requests."""

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
    "a photo, a URL for photo.uploaded alone": Cost(rpcs=2, reads=1, writes=1, tasks=1),
    # And the count of photos, for milestones.
    "a photo, a URL for all but guest.joined": Cost(rpcs=3, reads=2, writes=1, tasks=1),
    # And the guest's first photo, which here it is.
    "a photo, a URL for everything, a new guest": Cost(rpcs=4, reads=3, writes=2, tasks=2),
    "a photo, 20 URLs for everything, a new guest": Cost(rpcs=4, reads=3, writes=40, tasks=40),
    # Settings, and one commit.
    "an approval, one URL": Cost(rpcs=2, reads=1, writes=1, tasks=1),
    # A transaction that reads the photo and writes the copy.
    "with PUBLIC_WALL, the copy that an approval makes": Cost(rpcs=3, reads=1, writes=1),
    "an edit": Cost(),
    # Its secret.
    "a new event": Cost(rpcs=1, writes=1),
    # The record, read and written.
    "a delivery that succeeds": Cost(rpcs=2, reads=1, writes=1, posts=1),
    # And the settings, which a process then keeps for five seconds.
    "a delivery that begins late and succeeds": Cost(rpcs=3, reads=2, writes=1, posts=1),
    # The record, the settings, and the record again once it is written.
    "a delivery whose URL was removed before a retry": Cost(rpcs=4, reads=3, writes=1),
    # The record four times, the settings before each retry; the record of the endpoint that fails,
    # read and made.
    "a delivery that fails four times": Cost(rpcs=13, reads=8, writes=5, tasks=3, posts=4),
    # Settings, event, records; last success, failures, tests among them; the record of the address;
    # counts of its mails and of the tenant's; first failure, how many wait, the last failure; what
    # was told.
    "a notice": Cost(rpcs=13, reads=10, writes=3, mail_requests=1),
    # The record, settings, last success, failures, tests among them; when to check again.
    "a check of an endpoint that fails": Cost(rpcs=6, reads=5, writes=1),
    # The records, settings; of each its last success, and when to check again.
    "a sweep over 20 endpoints of an event": Cost(rpcs=42, reads=41, writes=20),
    # The call is counted by a write that answers with the count; account and mailbox, one call.
    "a look-up of preferences": Cost(rpcs=2, reads=2, writes=1),
    # And the other 19 accounts, in one call more.
    "a look-up of preferences, 20 accounts": Cost(rpcs=3, reads=21, writes=1),
    # Account and mailbox, read and written, and the count of the link's changes.
    "an update of preferences": Cost(rpcs=3, reads=2, writes=3),
    # A call of staff is counted, for its limit; event, settings, the share.
    "a link to a log": Cost(rpcs=4, reads=2, writes=2),
    # The call is counted; event and share, settings; the deliveries, and nothing that is not shown.
    "a page of 50 of a shared log": Cost(rpcs=4, reads=53, writes=1),
    # Reads: event and lock, the lock once more in a transaction, and no account, 1 each; photos 5,
    # guest records 5, the tenant's mails. Writes: the call; lock
    # and recap, in that transaction, which takes a call to begin; those mails; lock, batch and
    # recap; lock and batch; batch and recap; lock and recap. The lock is written with each write
    # that only its holder may make.
    "a recap of 5 guests": Cost(rpcs=14, reads=15, writes=13, mail_requests=1),
    # Reads: photos and guest records 5000 each, 167 queries for accounts, the others as for 5.
    # Writes: the call; lock and recap; mails; lock, 5 batches and recap; 4 for each of 5 batches;
    # lock and recap.
    "a recap of 5,000 guests": Cost(rpcs=198, reads=10_171, writes=33, mail_requests=5),
    # Reads: what is known of the recap's mails, and its 5 batches, one call. Writes: what is known
    # and the recap.
    "news of 500 of its mails, one request": Cost(rpcs=2, reads=6, writes=2),
    # Nothing is new in it.
    "the same told again": Cost(rpcs=1, reads=6),
    # And the preferences of the guest's mailbox, read and written, and the recap.
    "news of one mail, a complaint": Cost(rpcs=5, reads=4, writes=3),
    # The same reads but for the transaction, and no write but that of the call.
    "a preview of a recap of 5 guests": Cost(rpcs=6, reads=14, writes=1),
    "a preview of a recap of 5,000 guests": Cost(rpcs=182, reads=10_170, writes=1),
    # And the count of previews for that mailbox, by a write that answers with the count.
    "a preview of 5 guests, mailed": Cost(rpcs=7, reads=14, writes=2, mail_requests=1),
}
