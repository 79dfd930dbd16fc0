"""The composition root: one class that creates each object of a process on first use.

`functions/process.py` creates the `Service` of a deployed process, and `main.py` passes it to the
handlers. Tests create a `Service` on adapters of their own. A property imports the class that it
creates, so that a cold instance loads only the modules of its function.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from functions.cache import lazy_property
from functions.firestore.model import Documents
from functions.parameters import Parameters
from functions.ports import Accounts, Clock, Random, SecretReader, TaskQueue, Threads
from functions.rate_limit import RateLimits
from functions.webhooks.deliveries.fair_queue import FairQueue, Tenants, slow_attempts_a_second

if TYPE_CHECKING:
    from functions.admission import Admission
    from functions.links.link import LinkSigner
    from functions.mail import message, sendgrid_events
    from functions.preferences import user_store
    from functions.recap import (
        delivery_status,
        preview,
        schedule,
        send_recap,
        sweep,
    )
    from functions.recap.ledger.recap_store import RecapStore
    from functions.recap.planner import Planner
    from functions.wall import retention
    from functions.webhooks import signing, webhook_settings
    from functions.webhooks.actions import Actions, UrlTest
    from functions.webhooks.deliveries import delivery_store, redelivery
    from functions.webhooks.endpoints.endpoint_store import EndpointStore
    from functions.webhooks.endpoints.endpoint_sweep import EndpointSweep
    from functions.webhooks.endpoints.notifier import Notifier
    from functions.webhooks.publisher import Publisher
    from functions.webhooks.shared_log import LogLinks, SharedLog
    from functions.webhooks.worker import Sender, Worker

TASKS_AT_ONCE: Final = 20
"""Maximum concurrent enqueues or resends: the URLs of one event."""

_REPORTS_AT_ONCE: Final = 8
"""Maximum concurrent writes for one request from SendGrid."""


@dataclass(frozen=True, kw_only=True)
class Adapters:
    """Adapters for external systems, the clock, threads and randomness.

    Attributes:
        documents: Factory of the Firestore client, which requires credentials.
        task_queue: Cloud Tasks.
        secrets: Secret Manager.
        sender: Factory of the HTTP client for receivers, which loads the trusted authorities.
        mailer: Factory of the email provider's client.
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


class Service:
    """The objects of one process. Shared by all threads."""

    def __init__(self, adapters: Adapters) -> None:
        self.adapters = adapters
        self.clock = adapters.clock
        self.parameters = adapters.parameters
        self.lock = threading.RLock()

    @lazy_property
    def documents(self) -> Documents:
        """The Firestore client."""
        return self.adapters.documents()

    @lazy_property
    def rate_limits(self) -> RateLimits:
        """The rate limits of calls."""
        return RateLimits(self.documents, self.clock, self.adapters.secrets)

    @lazy_property
    def admission(self) -> "Admission":
        """The admission of calls."""
        from functions.admission import Admission

        return Admission(
            rate_limits=self.rate_limits,
            secrets=self.adapters.secrets,
            clock=self.clock,
            trusted_hops=self.parameters.trusted_proxy_hops,
            staff_calls_an_hour=self.parameters.staff_calls_an_hour,
        )

    @lazy_property
    def link_signer(self) -> "LinkSigner":
        """The signer of the links in emails."""
        from functions.links.link import LinkSigner

        return LinkSigner(self.adapters.secrets, self.parameters.public_base_url, self.clock)

    @lazy_property
    def mail_sender(self) -> "message.MailSender":
        """The sender of emails, as in the parameters and not validated."""
        from functions.mail import message

        parameters = self.parameters
        return message.MailSender(
            address=parameters.mail_from,
            reply_to=parameters.mail_reply_to,
            address_line=parameters.mail_address_line,
        )

    @lazy_property
    def mailer(self) -> "message.Mailer":
        """The client of the email provider."""
        return self.adapters.mailer()

    @lazy_property
    def mail_reports(self) -> "sendgrid_events.SendGridWebhook":
        """The parser and verifier of SendGrid's delivery reports."""
        from functions.mail import sendgrid_events

        return sendgrid_events.SendGridWebhook(self.parameters.sendgrid_webhook_key)

    @lazy_property
    def users(self) -> "user_store.UserStore":
        """The store of user records."""
        from functions.preferences import user_store

        return user_store.UserStore(self.documents)

    @lazy_property
    def recaps(self) -> "RecapStore":
        """The store of recaps, with their locks and ledgers."""
        from functions.recap.ledger.recap_store import RecapStore

        return RecapStore(self.documents)

    @lazy_property
    def statuses(self) -> "delivery_status.StatusStore":
        """The store of the delivery statuses of recap emails."""
        from functions.recap import delivery_status

        return delivery_status.StatusStore(self.documents)

    @lazy_property
    def planner(self) -> "Planner":
        """The planner that recaps and previews share, with their slots."""
        from functions.recap.audience.guest_store import PAGES_AT_ONCE, GuestStore
        from functions.recap.audience.photos import PhotoHosts
        from functions.recap.daily_limit import DailyLimit
        from functions.recap.planner import Planner
        from functions.recap.slots import Slots

        parameters, threads = self.parameters, self.adapters.threads
        return Planner(
            recaps=self.recaps,
            guests=GuestStore(self.documents, threads.pool(PAGES_AT_ONCE, "guests")),
            statuses=self.statuses,
            daily_limit=DailyLimit(self.documents, parameters.recap_mails_per_day),
            slots=Slots(),
            links=self.link_signer,
            sender=self.mail_sender,
            mailer=self.mailer,
            accounts=self.adapters.accounts,
            hosts=PhotoHosts.read(parameters.photo_hosts, parameters.project),
            clock=self.clock,
            random=self.adapters.random,
            per_call=parameters.recipients_per_recap,
        )

    @lazy_property
    def webhook_store(self) -> "webhook_settings.SettingsStore":
        """The store of webhook settings and their events."""
        from functions.webhooks import webhook_settings

        return webhook_settings.SettingsStore(self.documents)

    @lazy_property
    def _endpoints(self) -> "EndpointStore":
        from functions.webhooks.endpoints.endpoint_store import EndpointStore

        return EndpointStore(self.documents)

    @lazy_property
    def deliveries(self) -> "delivery_store.DeliveryStore":
        """The store of deliveries, which combines the reads and writes of attempts."""
        from functions.webhooks.deliveries import delivery_store

        page = self.parameters.deliveries_at_once
        return delivery_store.DeliveryStore(self.documents.grouped(), sweep_page=page)

    @lazy_property
    def _tenants(self) -> Tenants:
        return Tenants(self.documents, self.clock)

    @lazy_property
    def fair_queue(self) -> FairQueue:
        """The fair queue of all deliveries that this process schedules."""
        a_second = self.parameters.event_deliveries_a_second
        return FairQueue(a_second, self.clock, self._tenants)

    @lazy_property
    def _redelivery(self) -> "redelivery.Redelivery":
        from functions.webhooks.deliveries import redelivery

        queue = self.adapters.task_queue
        return redelivery.Redelivery(self.deliveries, queue, self.fair_queue, self.clock)

    @lazy_property
    def webhook_secrets(self) -> "signing.RememberedSecrets":
        """The cache of the events' webhook secrets."""
        from functions.webhooks import signing

        return signing.RememberedSecrets(self.documents, self.adapters.random, self.clock)

    @lazy_property
    def delivery_report_recorder(self) -> "delivery_status.DeliveryReportRecorder":
        """The use case of `mailEvents`."""
        from functions.recap import delivery_status

        return delivery_status.DeliveryReportRecorder(
            statuses=self.statuses,
            users=self.users,
            clock=self.clock,
            recaps_in_parallel=self.adapters.threads.pool(_REPORTS_AT_ONCE, "recaps"),
            guests_in_parallel=self.adapters.threads.pool(_REPORTS_AT_ONCE, "guests"),
        )

    @lazy_property
    def recap_sender(self) -> "send_recap.RecapSender":
        """The use case of `sendEventRecap`."""
        from functions.recap import send_recap
        from functions.recap.dispatch import REQUESTS_AT_ONCE, SMALL_REQUESTS_AT_ONCE

        parameters = self.parameters
        small = parameters.mail_connections if parameters.mail_url else SMALL_REQUESTS_AT_ONCE
        return send_recap.RecapSender(
            planner=self.planner,
            in_parallel=self.adapters.threads.pool(REQUESTS_AT_ONCE, "mail", caller_runs=False),
            small_in_parallel=self.adapters.threads.pool(small, "mail", caller_runs=False),
            threads=self.adapters.threads,
            has_reports=not parameters.mail_url,
        )

    @lazy_property
    def recap_preview(self) -> "preview.RecapPreview":
        """The use case of `previewEventRecap`."""
        from functions.recap import preview

        return preview.RecapPreview(
            planner=self.planner,
            rate_limit=self.rate_limits.keyed(),
        )

    @lazy_property
    def recap_schedule(self) -> "schedule.RecapSchedule":
        """The use case of `scheduleEventRecap`, and of its tasks."""
        from functions.recap import schedule

        return schedule.RecapSchedule(
            documents=self.documents,
            sender=self.recap_sender,
            task_queue=self.adapters.task_queue,
            accounts=self.adapters.accounts,
            mailer=self.mailer,
            mail_sender=self.mail_sender,
            base_url=self.parameters.public_base_url,
            clock=self.clock,
            random=self.adapters.random,
        )

    @lazy_property
    def schedule_sweep(self) -> "sweep.ScheduleSweep":
        """The sweep over scheduled recaps that no task has ended."""
        from functions.recap import sweep

        return sweep.ScheduleSweep(self.documents, self.adapters.task_queue, self.clock)

    @lazy_property
    def crashed_recaps(self) -> "sweep.CrashedRecaps":
        """The use case that settles recaps with a crashed call."""
        from functions.recap import sweep

        return sweep.CrashedRecaps(
            recaps=self.recaps,
            clock=self.clock,
            random=self.adapters.random,
            threads=self.adapters.threads,
        )

    @lazy_property
    def orphan_cleanup(self) -> "retention.OrphanCleanup":
        """The use case that deletes the orphans of deleted events."""
        from functions.wall import retention

        return retention.OrphanCleanup(self.documents, self.clock)

    @lazy_property
    def forgetting(self) -> "retention.Forgetting":
        """The use case that removes the guest data of archived events."""
        from functions.wall import retention

        return retention.Forgetting(self.documents, self.clock)

    @lazy_property
    def publisher(self) -> "Publisher":
        """The use case of the triggers: publishes webhook messages for Firestore writes."""
        from functions.wall.photo_store import PhotoStore
        from functions.webhooks.publisher import Publisher

        return Publisher(
            wall=PhotoStore(self.documents),
            settings=self.webhook_store,
            deliveries=self.deliveries,
            secrets=self.webhook_secrets,
            task_queue=self.adapters.task_queue,
            fair_queue=self.fair_queue,
            in_parallel=self.adapters.threads.pool(TASKS_AT_ONCE, "enqueue"),
            clock=self.clock,
        )

    @lazy_property
    def worker(self) -> "Worker":
        """The use case of the queues of attempts."""
        from functions.webhooks.worker import Worker

        parameters = self.parameters
        slow = slow_attempts_a_second(parameters.delivery_instances, parameters.threads)
        return Worker(
            deliveries=self.deliveries,
            secrets=self.webhook_secrets,
            settings=self.webhook_store,
            sender=self.adapters.sender(),
            tenants=self._tenants,
            task_queue=self.adapters.task_queue,
            slow_fair_queue=FairQueue(slow, self.clock, self._tenants),
            endpoints=self._endpoints,
            clock=self.clock,
        )

    @lazy_property
    def sweeper(self) -> "redelivery.Sweeper":
        """The use case that requeues overdue deliveries."""
        from functions.webhooks.deliveries import redelivery

        return redelivery.Sweeper(
            deliveries=self.deliveries,
            task_queue=self.adapters.task_queue,
            in_parallel=self.adapters.threads.pool(TASKS_AT_ONCE, "sweep"),
            clock=self.clock,
        )

    @lazy_property
    def endpoint_sweep(self) -> "EndpointSweep":
        """The use case that checks failing endpoints."""
        from functions.webhooks.endpoints.endpoint_sweep import EndpointSweep

        return EndpointSweep(
            endpoints=self._endpoints,
            settings=self.webhook_store,
            redelivery=self._redelivery,
            task_queue=self.adapters.task_queue,
            in_parallel=self.adapters.threads.pool(TASKS_AT_ONCE, "endpoints"),
            clock=self.clock,
            page=self.parameters.deliveries_at_once,
        )

    @lazy_property
    def notifier(self) -> "Notifier":
        """The use case of the queue of notices.

        It needs a service account that may read the key of the email provider. The functions that
        send requests to receivers have another account.
        """
        from functions.webhooks.deliveries.delivery_store import DeliveryStore
        from functions.webhooks.endpoints.notifier import Notifier

        return Notifier(
            endpoints=self._endpoints,
            settings=self.webhook_store,
            deliveries=DeliveryStore(self.documents),
            documents=self.documents,
            rate_limit=self.rate_limits.keyed("EMAIL_PREFS_KEY"),
            mailer=self.mailer,
            sender=self.mail_sender,
            base_url=self.parameters.public_base_url,
            clock=self.clock,
        )

    @lazy_property
    def actions(self) -> "Actions":
        """The use cases of organizers: resend deliveries, and rotate the secret."""
        from functions.webhooks.actions import Actions

        return Actions(
            settings=self.webhook_store,
            secrets=self.webhook_secrets,
            redelivery=self._redelivery,
            in_parallel=self.adapters.threads.pool(TASKS_AT_ONCE, "resend"),
            clock=self.clock,
            page=self.parameters.deliveries_at_once,
        )

    @lazy_property
    def url_test(self) -> "UrlTest":
        """The use case that sends a test delivery."""
        from functions.webhooks.actions import UrlTest

        return UrlTest(
            settings=self.webhook_store,
            worker=self.worker,
            clock=self.clock,
            random=self.adapters.random,
        )

    @lazy_property
    def log_links(self) -> "LogLinks":
        """The use case that creates and revokes links to delivery logs.

        Only one service account may read the key of these links.
        """
        from functions.webhooks.shared_log import LogLinks, LogShareStore

        return LogLinks(
            settings=self.webhook_store,
            shares=LogShareStore(self.documents),
            secrets=self.adapters.secrets,
            base_url=self.parameters.public_base_url,
            clock=self.clock,
            random=self.adapters.random,
        )

    @lazy_property
    def shared_log(self) -> "SharedLog":
        """The use cases of the bearers of links to delivery logs."""
        from functions.webhooks.shared_log import LogShareStore, SharedLog

        return SharedLog(
            settings=self.webhook_store,
            deliveries=self.deliveries,
            shares=LogShareStore(self.documents),
            redelivery=self._redelivery,
            rate_limit=self.rate_limits.keyed("LOG_LINKS_KEY"),
            clock=self.clock,
        )
