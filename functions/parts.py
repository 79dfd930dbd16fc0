"""What a process has of the outside, and what its use cases share: stores, links, mail, the pace.

See `functions/service.py`, whose lower half this is.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from functions.cache import made_once
from functions.firestore.model import Documents
from functions.outside import Clock, InParallel, SecretReader, TaskQueue

if TYPE_CHECKING:
    from functions.links.link import LinkSigner
    from functions.mail.message import BulkMailer, MailSender
    from functions.mail.sendgrid_events import SendGridWebhook
    from functions.preferences.preferences import VerifiedAddresses
    from functions.preferences.user_store import UserStore
    from functions.rate_limit import RateLimit
    from functions.recap.audience.guests import GuestStore
    from functions.recap.feedback import StatusStore
    from functions.recap.ledger.recap_store import RecapStore
    from functions.recap.limits import MailingStore, Slots
    from functions.recap.planner import Planner
    from functions.webhooks.deliveries.delivery_store import DeliveryStore, Tenants
    from functions.webhooks.deliveries.fair_pace import Pace
    from functions.webhooks.deliveries.redelivery import Redelivery
    from functions.webhooks.failing_endpoints.endpoint_store import EndpointStore
    from functions.webhooks.sender.sender import Sender
    from functions.webhooks.signing import RememberedSecrets
    from functions.webhooks.wall_store import WallStore
    from functions.webhooks.webhook_settings import SettingsStore


@dataclass(frozen=True, kw_only=True)
class Parameters:
    """The values of a deploy (docs/reference.md); the defaults are those of `.env`."""

    public_base_url: str = "https://wall.example.com"
    mail_from: str = "Photo wall <wall@example.com>"
    mail_reply_to: str = ""
    mail_address_line: str = ""
    sendgrid_webhook_key: str = ""
    photo_hosts: str = "project"
    project: str = "demo-wall"
    recaps_per_address_a_day: int = 3
    recap_mails_per_day: int = 20_000
    recipients_per_recap: int = 5000
    staff_calls_an_hour: int = 60
    event_deliveries_a_second: int = 80
    delivery_instances: int = 2
    threads: int = 300
    trusted_proxy_hops: int = 0
    deliveries_at_once: int = 300
    """Deliveries that one call of an organizer, of a recovery or of the sweep reads."""


@dataclass(frozen=True, kw_only=True)
class Adapters:
    """What a process has of the outside.

    Attributes:
        documents: Makes the way to Firestore, for which a process needs credentials.
        grouped_documents: The same, for many threads that each read and write one document.
        task_queue: Cloud Tasks.
        secrets: Secret Manager.
        sender: Makes what posts to receivers; it loads the authorities that are trusted.
        mailer: Makes the mail service's client.
        threads: Makes what works on items in parallel; see `Threads`.
        verified_addresses: Firebase Authentication: the verified addresses of users, by user id.
        claims_of: Firebase Authentication: what a user's next ID token says; None without the user.
        new_word: Makes 32 random hex digits, an id that was never there before.
        new_secret: Makes a secret of webhooks.
    """

    clock: Clock
    documents: Callable[[], Documents]
    grouped_documents: Callable[[], Documents]
    task_queue: TaskQueue
    secrets: SecretReader
    sender: "Callable[[], Sender]"
    mailer: "Callable[[], BulkMailer]"
    threads: Callable[..., InParallel]
    verified_addresses: "VerifiedAddresses"
    claims_of: Callable[[str], dict[str, Any] | None]
    new_word: Callable[[], str]
    new_secret: Callable[[], str]
    parameters: Parameters = Parameters()


class Parts:
    """The shared objects of one process, each made on first use."""

    def __init__(self, adapters: Adapters) -> None:
        self.adapters = adapters
        self.clock = adapters.clock
        self.parameters = adapters.parameters
        self.lock = threading.RLock()
        self._rate_limits: dict[str, RateLimit] = {}

    @made_once
    def documents(self) -> Documents:
        """Firestore."""
        return self.adapters.documents()

    def rate_limit(self, key: str = "") -> "RateLimit":
        """The limit on calls whose records have ids made with the secret `key`; one for each."""
        from functions.rate_limit import RateLimit

        with self.lock:
            new = RateLimit(self.documents, self.clock, self.adapters.secrets, key)
            return self._rate_limits.setdefault(key, new)

    def mail_link_keys(self) -> tuple[str, ...]:
        """The keys of the links in mails, the newest first (design 3.57); see `SecretReader`."""
        return self.adapters.secrets.versions("EMAIL_PREFS_KEY")

    @made_once
    def link_signer(self) -> "LinkSigner":
        """The links in mails."""
        from functions.links.link import LinkSigner

        return LinkSigner(self.adapters.secrets, self.parameters.public_base_url, self.clock)

    @made_once
    def mail_sender(self) -> "MailSender":
        """The sender, as the parameters name it, not checked yet."""
        from functions.mail.message import MailSender

        given = self.parameters
        return MailSender(
            address=given.mail_from,
            reply_to=given.mail_reply_to,
            address_line=given.mail_address_line,
        )

    @made_once
    def mailer(self) -> "BulkMailer":
        """The mail service."""
        return self.adapters.mailer()

    @made_once
    def mail_reports(self) -> "SendGridWebhook":
        """The mail provider's reports about mails."""
        from functions.mail.sendgrid_events import SendGridWebhook

        return SendGridWebhook(self.parameters.sendgrid_webhook_key)

    @made_once
    def users(self) -> "UserStore":
        """The user records."""
        from functions.preferences.user_store import UserStore

        return UserStore(self.documents)

    @made_once
    def recaps(self) -> "RecapStore":
        """The locks, the recaps and their ledgers."""
        from functions.recap.ledger.recap_store import RecapStore

        return RecapStore(self.documents)

    @made_once
    def guests(self) -> "GuestStore":
        """The photos and the user records of guests."""
        from functions.recap.audience.guests import PAGES_AT_ONCE, GuestStore

        return GuestStore(self.documents, self.adapters.threads(PAGES_AT_ONCE, "guests"))

    @made_once
    def mailings(self) -> "MailingStore":
        """The recap mails of tenants."""
        from functions.recap.limits import MailingStore

        return MailingStore(self.documents)

    @made_once
    def statuses(self) -> "StatusStore":
        """The delivery statuses of recap mails."""
        from functions.recap.feedback import StatusStore

        return StatusStore(self.documents)

    @made_once
    def slots(self) -> "Slots":
        """The slots that recaps and previews share."""
        from functions.recap.limits import Slots

        return Slots()

    @made_once
    def _planner(self) -> "Planner":
        from functions.recap.audience.photos import PhotoHosts
        from functions.recap.limits import RecapLimits
        from functions.recap.planner import Planner

        given = self.parameters
        return Planner(
            recaps=self.recaps,
            guests=self.guests,
            sender=self.mail_sender,
            mailer=self.mailer,
            verified=self.adapters.verified_addresses,
            hosts=PhotoHosts.read(given.photo_hosts, given.project),
            clock=self.clock,
            new_word=self.adapters.new_word,
            limits=RecapLimits(
                per_call=given.recipients_per_recap,
                per_address=given.recaps_per_address_a_day,
                per_tenant=given.recap_mails_per_day,
            ),
        )

    @made_once
    def _wall(self) -> "WallStore":
        from functions.webhooks.wall_store import WallStore

        return WallStore(self.documents)

    @made_once
    def _webhook_settings(self) -> "SettingsStore":
        from functions.webhooks.webhook_settings import SettingsStore

        return SettingsStore(self.documents)

    @made_once
    def _endpoints(self) -> "EndpointStore":
        from functions.webhooks.failing_endpoints.endpoint_store import EndpointStore

        return EndpointStore(self.documents)

    @made_once
    def deliveries(self) -> "DeliveryStore":
        """The records of deliveries; attempts read and write theirs together."""
        from functions.webhooks.deliveries.delivery_store import DeliveryStore

        page = self.parameters.deliveries_at_once
        return DeliveryStore(self.adapters.grouped_documents(), sweep_page=page)

    @made_once
    def _tenants(self) -> "Tenants":
        from functions.webhooks.deliveries.delivery_store import Tenants

        return Tenants(self.documents, self.clock)

    @made_once
    def pace(self) -> "Pace":
        """The pace of all deliveries that this process makes due."""
        from functions.webhooks.deliveries.fair_pace import Pace

        a_second = self.parameters.event_deliveries_a_second
        return Pace(a_second, self.clock, self._tenants)

    @made_once
    def _redelivery(self) -> "Redelivery":
        from functions.webhooks.deliveries.redelivery import Redelivery

        return Redelivery(self.deliveries, self.adapters.task_queue, self.pace, self.clock)

    @made_once
    def webhook_secrets(self) -> "RememberedSecrets":
        """Each event's secret, as this process remembers it."""
        from functions.webhooks.signing import RememberedSecrets

        return RememberedSecrets(self.documents, self.adapters.new_secret, self.clock)
