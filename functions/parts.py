"""What a process has of the outside, and what its use cases share: stores, links, mail, the pace.

See `functions/service.py`, whose lower half this is.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from functions.cache import made_once
from functions.firestore.model import Documents
from functions.parameters import Parameters
from functions.ports import Accounts, Clock, Random, SecretReader, TaskQueue, Threads
from functions.rate_limit import RateLimit
from functions.webhooks.deliveries.fair_pace import Pace, Tenants

if TYPE_CHECKING:
    from functions.links.link import LinkSigner
    from functions.mail import message, sendgrid_events
    from functions.preferences import user_store
    from functions.recap import feedback, planner
    from functions.recap.audience.guests import GuestStore
    from functions.recap.ledger.recap_store import RecapStore
    from functions.recap.limits import MailingStore, Slots
    from functions.webhooks import signing, webhook_settings
    from functions.webhooks.deliveries import delivery_store, redelivery
    from functions.webhooks.endpoints.endpoint_store import EndpointStore
    from functions.webhooks.worker import Sender


@dataclass(frozen=True, kw_only=True)
class Adapters:
    """What a process has of the outside.

    Attributes:
        documents: Makes the way to Firestore, for which a process needs credentials.
        task_queue: Cloud Tasks.
        secrets: Secret Manager.
        sender: Makes what posts to receivers; it loads the authorities that are trusted.
        mailer: Makes the mail service's client.
        accounts: Firebase Authentication.
    """

    clock: Clock
    documents: Callable[[], Documents]
    task_queue: TaskQueue
    secrets: SecretReader
    sender: "Callable[[], Sender]"
    mailer: "Callable[[], message.Mailer]"
    threads: Threads
    accounts: Accounts
    random: Random
    parameters: Parameters = field(default_factory=Parameters)


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

    def rate_limit(self, key: str = "") -> RateLimit:
        """The limit on calls whose records have ids made with the secret `key`; one for each."""
        with self.lock:
            new = RateLimit(self.documents, self.clock, self.adapters.secrets, key)
            return self._rate_limits.setdefault(key, new)

    @made_once
    def link_signer(self) -> "LinkSigner":
        """The links in mails."""
        from functions.links.link import LinkSigner

        return LinkSigner(self.adapters.secrets, self.parameters.public_base_url, self.clock)

    @made_once
    def mail_sender(self) -> "message.MailSender":
        """The sender, as the parameters name it, not checked yet."""
        from functions.mail import message

        given = self.parameters
        return message.MailSender(
            address=given.mail_from,
            reply_to=given.mail_reply_to,
            address_line=given.mail_address_line,
        )

    @made_once
    def mailer(self) -> "message.Mailer":
        """The mail service."""
        return self.adapters.mailer()

    @made_once
    def mail_reports(self) -> "sendgrid_events.SendGridWebhook":
        """The mail provider's reports about mails."""
        from functions.mail import sendgrid_events

        return sendgrid_events.SendGridWebhook(self.parameters.sendgrid_webhook_key)

    @made_once
    def users(self) -> "user_store.UserStore":
        """The user records."""
        from functions.preferences import user_store

        return user_store.UserStore(self.documents)

    @made_once
    def recaps(self) -> "RecapStore":
        """The locks, the recaps and their ledgers."""
        from functions.recap.ledger.recap_store import RecapStore

        return RecapStore(self.documents)

    @made_once
    def guests(self) -> "GuestStore":
        """The photos and the user records of guests."""
        from functions.recap.audience.guests import PAGES_AT_ONCE, GuestStore

        return GuestStore(self.documents, self.adapters.threads.pool(PAGES_AT_ONCE, "guests"))

    @made_once
    def mailings(self) -> "MailingStore":
        """The recap mails of tenants."""
        from functions.recap.limits import MailingStore

        return MailingStore(self.documents)

    @made_once
    def statuses(self) -> "feedback.StatusStore":
        """The delivery statuses of recap mails."""
        from functions.recap import feedback

        return feedback.StatusStore(self.documents)

    @made_once
    def slots(self) -> "Slots":
        """The slots that recaps and previews share."""
        from functions.recap.limits import Slots

        return Slots()

    @made_once
    def _planner(self) -> "planner.Planner":
        from functions.recap import planner
        from functions.recap.audience.photos import PhotoHosts
        from functions.recap.limits import RecapLimits

        given = self.parameters
        return planner.Planner(
            recaps=self.recaps,
            guests=self.guests,
            sender=self.mail_sender,
            mailer=self.mailer,
            accounts=self.adapters.accounts,
            hosts=PhotoHosts.read(given.photo_hosts, given.project),
            clock=self.clock,
            random=self.adapters.random,
            limits=RecapLimits(
                per_call=given.recipients_per_recap,
                per_address=given.recaps_per_address_a_day,
                per_tenant=given.recap_mails_per_day,
            ),
        )

    @made_once
    def webhook_store(self) -> "webhook_settings.SettingsStore":
        """The webhooks' settings, and the event that has them."""
        from functions.webhooks import webhook_settings

        return webhook_settings.SettingsStore(self.documents)

    @made_once
    def _endpoints(self) -> "EndpointStore":
        from functions.webhooks.endpoints.endpoint_store import EndpointStore

        return EndpointStore(self.documents)

    @made_once
    def deliveries(self) -> "delivery_store.DeliveryStore":
        """The records of deliveries; attempts read and write theirs together."""
        from functions.webhooks.deliveries import delivery_store

        page = self.parameters.deliveries_at_once
        return delivery_store.DeliveryStore(self.documents.grouped(), sweep_page=page)

    @made_once
    def _tenants(self) -> Tenants:
        return Tenants(self.documents, self.clock)

    @made_once
    def pace(self) -> Pace:
        """The pace of all deliveries that this process makes due."""
        a_second = self.parameters.event_deliveries_a_second
        return Pace(a_second, self.clock, self._tenants)

    @made_once
    def _redelivery(self) -> "redelivery.Redelivery":
        from functions.webhooks.deliveries import redelivery

        queue = self.adapters.task_queue
        return redelivery.Redelivery(self.deliveries, queue, self.pace, self.clock)

    @made_once
    def webhook_secrets(self) -> "signing.RememberedSecrets":
        """Each event's secret, as this process remembers it."""
        from functions.webhooks import signing

        return signing.RememberedSecrets(self.documents, self.adapters.random, self.clock)
