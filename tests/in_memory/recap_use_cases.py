"""The recap's use cases in one process, on any documents and any mail service."""

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any

from functions.clock import Clock
from functions.firestore.model import Documents
from functions.mail.provider import BulkMailer
from functions.mail.sender import MailSender
from functions.parallel import InParallel
from functions.preferences.accounts import VerifiedAddresses
from functions.preferences.links import PreferencesLinks
from functions.preferences.store.user_store import UserStore
from functions.recap.audience.guest_store import GuestStore
from functions.recap.feedback.recorder import MailEvents
from functions.recap.feedback.status_store import StatusStore
from functions.recap.ledger.recap_store import RecapStore
from functions.recap.places import Places
from functions.recap.planner import Planner
from functions.recap.preview import RecapPreview
from functions.recap.quota import MailingStore, RecapLimits
from functions.recap.send_recap import RecapSender


@dataclass(frozen=True, kw_only=True)
class RecapUseCases:
    """Every use case that is taken from it is fresh, as in a process that has just begun.

    Attributes:
        links: Gives the links in a mail from the ids that they name.
        verified: The verified addresses of users.
        in_parallel: Serves every kind of work.
        watch: A store by its name, as the use cases are to have it.
        count: Counts a preview that is mailed.
    """

    documents: Documents
    clock: Clock
    mailer: Callable[[], BulkMailer]
    links: Callable[[str, str], PreferencesLinks]
    new_word: Callable[[], str]
    in_parallel: InParallel
    places: Places = field(default_factory=lambda: Places(seconds=0))
    limits: RecapLimits = field(default_factory=RecapLimits)
    mail_sender: Callable[[], MailSender] = lambda: MailSender(
        address="Photo Wall <photos@example.com>"
    )
    verified: VerifiedAddresses = lambda _: {}
    shows: Callable[[str], bool] = lambda _: True
    watch: Callable[[str, Any], Any] = lambda _, store: store
    check_links: Callable[[], object] = lambda: None
    count: Callable[[str], None] = lambda _: None
    new_mutex: Callable[[], AbstractContextManager[object]] = threading.Lock

    @property
    def planner(self) -> Planner:
        """The planner of both use cases."""
        return Planner(
            recaps=self.watch("recaps", RecapStore(self.documents)),
            guests=self.watch("guests", GuestStore(self.documents, self.in_parallel)),
            mailings=self.watch("mailings", MailingStore(self.documents)),
            sender=self.mail_sender,
            verified=self.verified,
            shows=self.shows,
            now=self.clock.now,
            new_word=self.new_word,
            limits=self.limits,
        )

    @property
    def sender(self) -> RecapSender:
        """The use case of `sendEventRecap`."""
        return RecapSender(
            planner=self.planner,
            statuses=self.watch("outcomes", StatusStore(self.documents)),
            places=self.places,
            mailer=self.mailer,
            links=lambda: self.links,
            in_parallel=self.in_parallel,
            small_in_parallel=self.in_parallel,
            clock=self.clock,
            new_mutex=self.new_mutex,
        )

    def preview(self, min_guests: int = 0) -> RecapPreview:
        """The use case of `previewEventRecap`; the skipped are counted from `min_guests` on."""
        return RecapPreview(
            planner=self.planner,
            places=self.places,
            statuses=self.watch("outcomes", StatusStore(self.documents)),
            mailer=self.mailer,
            links=self.check_links,
            links_of_nobody=lambda: PreferencesLinks.of_nobody("https://example.com"),
            count=self.count,
            min_guests=min_guests,
        )

    def mail_events(self, recaps_in_parallel: InParallel | None = None) -> MailEvents:
        """The use case of `mailEvents`."""
        return MailEvents(
            statuses=self.watch("outcomes", StatusStore(self.documents)),
            users=self.watch("users", UserStore(self.documents)),
            clock=self.clock,
            recaps_in_parallel=recaps_in_parallel or self.in_parallel,
            guests_in_parallel=self.in_parallel,
        )
