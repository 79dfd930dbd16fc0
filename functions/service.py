"""Every object of a process, made on first use: the one place where objects are put together.

`main.py` hands the process's `Service` to the handlers; tests hand in a `Service` of their own
adapters. Each property imports what it makes, so that a cold instance loads what it calls.
"""

import functools
import threading
from typing import TYPE_CHECKING, Final, TypeVar

from functions.adapters import Adapters
from functions.firestore.model import Documents

if TYPE_CHECKING:
    from functions.mail.outcome import BulkMailer
    from functions.mail.sender import MailSender
    from functions.mail.sendgrid_events import SendGridWebhook
    from functions.preferences.preference_links import LinkSigner
    from functions.preferences.user_store import UserStore
    from functions.rate_limit import RateLimit
    from functions.recap.audience.guest_store import GuestStore
    from functions.recap.feedback.recorder import MailEvents
    from functions.recap.feedback.status_store import StatusStore
    from functions.recap.ledger.recap_store import RecapStore
    from functions.recap.limits import MailingStore, Slots
    from functions.recap.planner import Planner
    from functions.recap.preview import RecapPreview
    from functions.recap.schedule import RecapSchedule
    from functions.recap.send_recap import RecapSender
    from functions.wall.retention import Forgetting, OrphanCleanup
    from functions.webhooks.attempts.sweeper import Sweeper
    from functions.webhooks.attempts.worker import Worker
    from functions.webhooks.calls.actions import Actions, UrlTest
    from functions.webhooks.calls.shared_log import LogLinks, SharedLog
    from functions.webhooks.deliveries.delivery_store import DeliveryStore, Tenants
    from functions.webhooks.deliveries.fair_pace import Pace
    from functions.webhooks.deliveries.redelivery import Redelivery
    from functions.webhooks.failing_endpoints.endpoint_store import EndpointStore
    from functions.webhooks.failing_endpoints.endpoint_sweep import EndpointSweep
    from functions.webhooks.failing_endpoints.notifier import Notifier
    from functions.webhooks.publisher import Publisher
    from functions.webhooks.signing.webhook_secrets import RememberedSecrets
    from functions.webhooks.wall_store import WallStore
    from functions.webhooks.webhook_settings import SettingsStore

TASKS_AT_ONCE: Final = 20
"""Tasks queued, or deliveries sent again, at the same time: the URLs of one event."""

_REPORTS_AT_ONCE: Final = 8
"""Writes of one request of the mail provider at the same time."""

Made = TypeVar("Made")


class made_once(functools.cached_property[Made]):  # noqa: N801 - a decorator
    """A cached property; threads that read it first wait for the thread that makes the value."""

    def __get__(self, of: "Service", owner: type | None = None) -> Made:  # type: ignore[override]
        """The value."""
        with of.lock:
            return super().__get__(of, owner)


class Service:
    """The objects of one process; one instance serves all its threads."""

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

    # Limits, keys and links

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
        from functions.preferences.preference_links import LinkSigner

        return LinkSigner(self.adapters.secrets, self.parameters.public_base_url, self.clock)

    # Mail

    def mail_sender(self) -> "MailSender":
        """The sender, as the parameters name it.

        Raises:
            MisconfiguredError: a parameter cannot be used.
        """
        from functions.mail.sender import MailSender

        given = self.parameters
        return MailSender.read(given.mail_from, given.mail_reply_to, given.mail_address_line)

    def mailer(self) -> "BulkMailer":
        """The mail service's client, with its current key.

        Raises:
            MisconfiguredError: the key is missing or unusable.
            Exception: Secret Manager could not be reached.
        """
        from functions.gcp.secret_manager import MissingSecretError
        from functions.mail.outcome import MisconfiguredError
        from functions.mail.sendgrid import KEY_NAME

        try:
            [key] = self.adapters.secrets.versions("SENDGRID_API_KEY", at_most=1)
        except MissingSecretError as missing:
            raise MisconfiguredError(KEY_NAME, "a key of SendGrid's") from missing
        return self.adapters.mailer(key)

    @made_once
    def mail_reports(self) -> "SendGridWebhook":
        """The mail provider's reports about mails."""
        from functions.mail.sendgrid_events import SendGridWebhook

        return SendGridWebhook(self.parameters.sendgrid_webhook_key)

    @made_once
    def mail_events(self) -> "MailEvents":
        """The use case of `mailEvents`."""
        from functions.recap.feedback.recorder import MailEvents

        return MailEvents(
            statuses=self.statuses,
            users=self.users,
            clock=self.clock,
            recaps_in_parallel=self.adapters.threads(_REPORTS_AT_ONCE, "recaps"),
            guests_in_parallel=self.adapters.threads(_REPORTS_AT_ONCE, "guests"),
        )

    # Preferences

    @made_once
    def users(self) -> "UserStore":
        """The user records."""
        from functions.preferences.user_store import UserStore

        return UserStore(self.documents)

    # Recap

    @made_once
    def recaps(self) -> "RecapStore":
        """The locks, the recaps and their ledgers."""
        from functions.recap.ledger.recap_store import RecapStore

        return RecapStore(self.documents)

    @made_once
    def guests(self) -> "GuestStore":
        """The photos and the user records of guests."""
        from functions.recap.audience.guest_store import PAGES_AT_ONCE, GuestStore

        return GuestStore(self.documents, self.adapters.threads(PAGES_AT_ONCE, "guests"))

    @made_once
    def mailings(self) -> "MailingStore":
        """The recap mails of tenants."""
        from functions.recap.limits import MailingStore

        return MailingStore(self.documents)

    @made_once
    def statuses(self) -> "StatusStore":
        """The delivery statuses of recap mails."""
        from functions.recap.feedback.status_store import StatusStore

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
    def recap_sender(self) -> "RecapSender":
        """The use case of `sendEventRecap`."""
        from functions.recap.dispatch import REQUESTS_AT_ONCE, SMALL_REQUESTS_AT_ONCE
        from functions.recap.send_recap import RecapSender

        return RecapSender(
            planner=self._planner,
            recaps=self.recaps,
            mailings=self.mailings,
            statuses=self.statuses,
            slots=self.slots,
            mailer=self.mailer,
            links=self.link_signer,
            in_parallel=self.adapters.threads(REQUESTS_AT_ONCE, "mail", helped=False),
            small_in_parallel=self.adapters.threads(SMALL_REQUESTS_AT_ONCE, "mail", helped=False),
            clock=self.clock,
            new_word=self.adapters.new_word,
            new_mutex=threading.Lock,
        )

    @made_once
    def recap_preview(self) -> "RecapPreview":
        """The use case of `previewEventRecap`."""
        from functions.recap.preview import RecapPreview

        return RecapPreview(
            planner=self._planner,
            recaps=self.recaps,
            mailings=self.mailings,
            statuses=self.statuses,
            slots=self.slots,
            mailer=self.mailer,
            links=self.link_signer,
            rate_limit=self.rate_limit(),
            clock=self.clock,
        )

    @made_once
    def recap_schedule(self) -> "RecapSchedule":
        """The use case of `scheduleEventRecap`, and of its tasks."""
        from functions.recap.schedule import RecapSchedule

        return RecapSchedule(
            documents=self.documents,
            sender=self.recap_sender,
            recaps=self.recaps,
            task_queue=self.adapters.task_queue,
            claims_of=self.adapters.claims_of,
            mailer=self.mailer,
            mail_sender=self.mail_sender,
            base_url=self.parameters.public_base_url,
            clock=self.clock,
            new_word=self.adapters.new_word,
        )

    # The wall

    @made_once
    def orphan_cleanup(self) -> "OrphanCleanup":
        """Deletes what deleted events have left."""
        from functions.wall.retention import DeletedEventStore, OrphanCleanup

        return OrphanCleanup(DeletedEventStore(self.documents), self.clock)

    @made_once
    def forgetting(self) -> "Forgetting":
        """Forgets the guests of archived events."""
        from functions.wall.retention import Forgetting, GuestPhotoStore

        return Forgetting(GuestPhotoStore(self.documents), self.clock)

    # Webhooks: what several use cases share

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
        from functions.webhooks.signing.webhook_secrets import RememberedSecrets, SecretStore

        store = SecretStore(self.documents)
        return RememberedSecrets(store, new_secret=self.adapters.new_secret, clock=self.clock)

    # Webhooks: use cases

    @made_once
    def publisher(self) -> "Publisher":
        """What the triggers call."""
        from functions.webhooks.publisher import Milestones, Publisher

        return Publisher(
            wall=self._wall,
            settings=self._webhook_settings,
            deliveries=self.deliveries,
            secrets=self.webhook_secrets,
            task_queue=self.adapters.task_queue,
            pace=self.pace,
            in_parallel=self.adapters.threads(TASKS_AT_ONCE, "enqueue"),
            clock=self.clock,
            milestones=Milestones(self._wall, self.clock),
        )

    @made_once
    def worker(self) -> "Worker":
        """What the queues of attempts call."""
        from functions.webhooks.attempts.receiver_speed import FastReceivers
        from functions.webhooks.attempts.worker import Worker
        from functions.webhooks.deliveries.fair_pace import Pace, slow_attempts_a_second
        from functions.webhooks.failing_endpoints.endpoint_store import Failures

        given = self.parameters
        slow = slow_attempts_a_second(given.delivery_instances, given.threads)
        return Worker(
            deliveries=self.deliveries,
            secrets=self.webhook_secrets,
            sender=self.adapters.sender(),
            tenants=self._tenants,
            task_queue=self.adapters.task_queue,
            slow_pace=Pace(slow, self.clock, self._tenants),
            failures=Failures(self._endpoints, self._tenants, self.clock),
            clock=self.clock,
            fast_receivers=FastReceivers(self.clock, self._tenants),
        )

    @made_once
    def sweeper(self) -> "Sweeper":
        """Queues lost deliveries."""
        from functions.webhooks.attempts.sweeper import Sweeper

        return Sweeper(
            deliveries=self.deliveries,
            task_queue=self.adapters.task_queue,
            in_parallel=self.adapters.threads(TASKS_AT_ONCE, "sweep"),
            clock=self.clock,
        )

    @made_once
    def endpoint_sweep(self) -> "EndpointSweep":
        """Looks at the endpoints that fail."""
        from functions.webhooks.failing_endpoints.endpoint_sweep import EndpointSweep

        return EndpointSweep(
            endpoints=self._endpoints,
            settings=self._webhook_settings,
            deliveries=self.deliveries,
            redelivery=self._redelivery,
            task_queue=self.adapters.task_queue,
            in_parallel=self.adapters.threads(TASKS_AT_ONCE, "endpoints"),
            clock=self.clock,
            page=self.parameters.deliveries_at_once,
        )

    @made_once
    def notifier(self) -> "Notifier":
        """What the queue of notices calls.

        It runs as the account that may read the mail service's key. The functions that talk to
        receivers have another account.
        """
        from functions.webhooks.deliveries.delivery_store import DeliveryStore
        from functions.webhooks.failing_endpoints.notifier import Notifier, People

        return Notifier(
            endpoints=self._endpoints,
            settings=self._webhook_settings,
            deliveries=DeliveryStore(self.documents),
            wall=self._wall,
            people=People(
                self.documents,
                rate_limit=self.rate_limit("EMAIL_PREFS_KEY"),
                clock=self.clock,
            ),
            mailer=self.mailer,
            sender=self.mail_sender,
            base_url=self.parameters.public_base_url,
            clock=self.clock,
        )

    @made_once
    def actions(self) -> "Actions":
        """What an organizer calls."""
        from functions.webhooks.calls.actions import Actions

        return Actions(
            wall=self._wall,
            settings=self._webhook_settings,
            deliveries=self.deliveries,
            secrets=self.webhook_secrets,
            redelivery=self._redelivery,
            in_parallel=self.adapters.threads(TASKS_AT_ONCE, "resend"),
            clock=self.clock,
            page=self.parameters.deliveries_at_once,
        )

    @made_once
    def url_test(self) -> "UrlTest":
        """What an organizer calls to try a URL; its worker loads the authorities that it trusts."""
        from functions.webhooks.calls.actions import UrlTest

        return UrlTest(
            wall=self._wall,
            settings=self._webhook_settings,
            deliveries=self.deliveries,
            worker=self.worker,
            clock=self.clock,
            new_id=self.adapters.new_id,
        )

    @made_once
    def log_links(self) -> "LogLinks":
        """Gives out links to logs.

        It runs as the one account that reads the key of these links, which no worker does.
        """
        from functions.webhooks.calls.log_share import LogShareStore
        from functions.webhooks.calls.shared_log import LogLinks

        return LogLinks(
            wall=self._wall,
            settings=self._webhook_settings,
            shares=LogShareStore(self.documents),
            secrets=self.adapters.secrets,
            base_url=self.parameters.public_base_url,
            clock=self.clock,
            new_id=self.adapters.new_id,
        )

    @made_once
    def shared_log(self) -> "SharedLog":
        """Serves the bearers of links to logs."""
        from functions.webhooks.calls.log_share import LogShareStore
        from functions.webhooks.calls.shared_log import SharedLog

        return SharedLog(
            settings=self._webhook_settings,
            deliveries=self.deliveries,
            shares=LogShareStore(self.documents),
            redelivery=self._redelivery,
            rate_limit=self.rate_limit("LOG_LINKS_KEY"),
            clock=self.clock,
        )
