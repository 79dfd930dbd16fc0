"""Every object of a process, made on first use: the one place where objects are put together.

`main.py` hands the process's `Service` to the handlers; tests hand in a `Service` of their own
adapters. Each property imports what it makes, so that a cold instance loads what it calls.
"""

from typing import TYPE_CHECKING, Final

from functions.cache import made_once
from functions.parts import Parts
from functions.webhooks.deliveries.fair_pace import Pace, slow_attempts_a_second

if TYPE_CHECKING:
    from functions.recap import crashed, feedback, preview, schedule, send_recap
    from functions.wall import retention
    from functions.webhooks.actions import Actions, UrlTest
    from functions.webhooks.deliveries.redelivery import Sweeper
    from functions.webhooks.endpoints.endpoint_sweep import EndpointSweep
    from functions.webhooks.endpoints.notifier import Notifier
    from functions.webhooks.publisher import Publisher
    from functions.webhooks.shared_log import LogLinks, SharedLog
    from functions.webhooks.worker import Worker

TASKS_AT_ONCE: Final = 20
"""Tasks queued, or deliveries sent again, at the same time: the URLs of one event."""

_REPORTS_AT_ONCE: Final = 8
"""Writes of one request of the mail provider at the same time."""


class Service(Parts):
    """The use cases of one process; one instance serves all its threads."""

    @made_once
    def mail_events(self) -> "feedback.MailEvents":
        """The use case of `mailEvents`."""
        from functions.recap import feedback

        return feedback.MailEvents(
            statuses=self.statuses,
            users=self.users,
            clock=self.clock,
            recaps_in_parallel=self.adapters.threads.pool(_REPORTS_AT_ONCE, "recaps"),
            guests_in_parallel=self.adapters.threads.pool(_REPORTS_AT_ONCE, "guests"),
        )

    @made_once
    def recap_sender(self) -> "send_recap.RecapSender":
        """The use case of `sendEventRecap`."""
        from functions.recap import send_recap
        from functions.recap.dispatch import REQUESTS_AT_ONCE, SMALL_REQUESTS_AT_ONCE

        return send_recap.RecapSender(
            planner=self._planner,
            recaps=self.recaps,
            mailings=self.mailings,
            statuses=self.statuses,
            slots=self.slots,
            mailer=self.mailer,
            links=self.link_signer,
            in_parallel=self.adapters.threads.pool(REQUESTS_AT_ONCE, "mail", helped=False),
            small_in_parallel=self.adapters.threads.pool(
                SMALL_REQUESTS_AT_ONCE, "mail", helped=False
            ),
            clock=self.clock,
            random=self.adapters.random,
            threads=self.adapters.threads,
        )

    @made_once
    def recap_preview(self) -> "preview.RecapPreview":
        """The use case of `previewEventRecap`."""
        from functions.recap import preview

        return preview.RecapPreview(
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

    @made_once
    def crashed_recaps(self) -> "crashed.CrashedRecaps":
        """Settles the recaps of calls that have crashed."""
        from functions.recap import crashed

        return crashed.CrashedRecaps(
            recaps=self.recaps,
            mailings=self.mailings,
            clock=self.clock,
            random=self.adapters.random,
            threads=self.adapters.threads,
        )

    @made_once
    def orphan_cleanup(self) -> "retention.OrphanCleanup":
        """Deletes what deleted events have left."""
        from functions.wall import retention

        return retention.OrphanCleanup(self.documents, self.clock)

    @made_once
    def forgetting(self) -> "retention.Forgetting":
        """Forgets the guests of archived events."""
        from functions.wall import retention

        return retention.Forgetting(self.documents, self.clock)

    @made_once
    def publisher(self) -> "Publisher":
        """What the triggers call."""
        from functions.webhooks.publisher import Milestones, Publisher, WallStore

        wall = WallStore(self.documents)
        return Publisher(
            wall=wall,
            settings=self.webhook_store,
            deliveries=self.deliveries,
            secrets=self.webhook_secrets,
            task_queue=self.adapters.task_queue,
            pace=self.pace,
            in_parallel=self.adapters.threads.pool(TASKS_AT_ONCE, "enqueue"),
            clock=self.clock,
            milestones=Milestones(wall, self.clock),
        )

    @made_once
    def worker(self) -> "Worker":
        """What the queues of attempts call."""
        from functions.webhooks.deliveries.receiver_speed import FastReceivers
        from functions.webhooks.endpoints.endpoint_store import Failures
        from functions.webhooks.worker import Worker

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
        from functions.webhooks.deliveries.redelivery import Sweeper

        return Sweeper(
            deliveries=self.deliveries,
            task_queue=self.adapters.task_queue,
            in_parallel=self.adapters.threads.pool(TASKS_AT_ONCE, "sweep"),
            clock=self.clock,
        )

    @made_once
    def endpoint_sweep(self) -> "EndpointSweep":
        """Looks at the endpoints that fail."""
        from functions.webhooks.endpoints.endpoint_sweep import EndpointSweep

        return EndpointSweep(
            endpoints=self._endpoints,
            settings=self.webhook_store,
            deliveries=self.deliveries,
            redelivery=self._redelivery,
            task_queue=self.adapters.task_queue,
            in_parallel=self.adapters.threads.pool(TASKS_AT_ONCE, "endpoints"),
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
        from functions.webhooks.endpoints.notifier import Notifier

        return Notifier(
            endpoints=self._endpoints,
            settings=self.webhook_store,
            deliveries=DeliveryStore(self.documents),
            documents=self.documents,
            rate_limit=self.rate_limit("EMAIL_PREFS_KEY"),
            mailer=self.mailer,
            sender=self.mail_sender,
            base_url=self.parameters.public_base_url,
            clock=self.clock,
        )

    @made_once
    def actions(self) -> "Actions":
        """What an organizer calls."""
        from functions.webhooks.actions import Actions

        return Actions(
            settings=self.webhook_store,
            deliveries=self.deliveries,
            secrets=self.webhook_secrets,
            redelivery=self._redelivery,
            in_parallel=self.adapters.threads.pool(TASKS_AT_ONCE, "resend"),
            clock=self.clock,
            page=self.parameters.deliveries_at_once,
        )

    @made_once
    def url_test(self) -> "UrlTest":
        """What an organizer calls to try a URL; its worker loads the authorities that it trusts."""
        from functions.webhooks.actions import UrlTest

        return UrlTest(
            settings=self.webhook_store,
            deliveries=self.deliveries,
            worker=self.worker,
            clock=self.clock,
            random=self.adapters.random,
        )

    @made_once
    def log_links(self) -> "LogLinks":
        """Gives out links to logs.

        It runs as the one account that reads the key of these links, which no worker does.
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

    @made_once
    def shared_log(self) -> "SharedLog":
        """Serves the bearers of links to logs."""
        from functions.webhooks.shared_log import LogShareStore, SharedLog

        return SharedLog(
            settings=self.webhook_store,
            deliveries=self.deliveries,
            shares=LogShareStore(self.documents),
            redelivery=self._redelivery,
            rate_limit=self.rate_limit("LOG_LINKS_KEY"),
            clock=self.clock,
        )
