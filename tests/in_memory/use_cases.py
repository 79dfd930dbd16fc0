"""The webhooks' use cases in one process, on adapters in memory."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from functions.clock import Clock
from functions.firestore.model import Documents
from functions.gcp.task_queue import Enqueue
from functions.links.token import TokenKeys
from functions.mail.outcome import Accepted, Mailer
from functions.mail.sender import MailSender
from functions.parallel import InParallel
from functions.rate_limit import RateLimit
from functions.webhooks.attempts.receiver_speed import FastReceivers
from functions.webhooks.attempts.sweeper import Sweeper
from functions.webhooks.attempts.worker import Worker
from functions.webhooks.calls.actions import Actions
from functions.webhooks.calls.log_share import LogShareStore
from functions.webhooks.calls.shared_log import LogLinks, SharedLog
from functions.webhooks.deliveries.delivery_store import DeliveryStore
from functions.webhooks.deliveries.fair_pace import Pace
from functions.webhooks.deliveries.redelivery import Redelivery
from functions.webhooks.failing_endpoints.endpoint_store import EndpointStore, Failures
from functions.webhooks.failing_endpoints.endpoint_sweep import EndpointSweep
from functions.webhooks.failing_endpoints.notifier import Notifier, People
from functions.webhooks.publisher import Milestones, Publisher
from functions.webhooks.sender.ports import Sender
from functions.webhooks.signing.webhook_secrets import RememberedSecrets, SecretStore
from functions.webhooks.wall_store import WallStore
from functions.webhooks.webhook_settings import SettingsStore
from tests.in_memory.documents import Firestore, InMemoryDocuments
from tests.in_memory.outside import (
    InMemoryTasks,
    ScriptedMailer,
    ScriptedSender,
    enqueue_to,
)
from tests.in_memory.through import Through

KEYS: Final = TokenKeys(["a key of the tests, of 32 bytes or more"])


class _Limit(RateLimit):
    """Asks a test whether it allows a call of a client."""

    def __init__(self, asks: Callable[[str, int], bool]) -> None:
        self._asks = asks

    def allows(self, function: str, client: str, at_most: int, *_: object) -> bool:
        """See `RateLimit`."""
        del function
        return self._asks(client, at_most)


@dataclass(frozen=True, slots=True)
class Machine:
    """What a process has of its own: clocks, threads, and the way to its services."""

    clock: Clock
    in_parallel: InParallel
    call: Through


@dataclass(eq=False, repr=False)
class WebhookUseCases:
    """Every use case that is taken from it is fresh, as in a process that has just begun.

    Attributes:
        machine: The process.
        firestore: All documents.
        tasks: Cloud Tasks.
        new_id: Makes ids that were not there before,
        new_secret: and secrets.
        sender: Posts to receivers.
        mailer: Sends notices.
        counts: Counts a mail, or a resend through a link; False beyond the limit.
        keys: What links to logs are signed with.
        a_second: The pace: how many deliveries of an event are due in a second.
        page: How many deliveries an action or a recovery takes at a time,
        sweep_page: and the sweeper.
    """

    machine: Machine
    firestore: Firestore
    tasks: InMemoryTasks
    new_id: Callable[[], str]
    new_secret: Callable[[], str]
    sender: Sender = field(default_factory=lambda: ScriptedSender(lambda *_: 204))
    mailer: Mailer = field(default_factory=lambda: ScriptedMailer(lambda _: Accepted("m1")))
    counts: Callable[[str, int], bool] = lambda *_: True
    keys: TokenKeys = field(default_factory=lambda: KEYS)
    a_second: int = 80
    page: int = 300
    sweep_page: int = 300

    def publisher(self) -> Publisher:
        """What the triggers call."""
        return Publisher(
            wall=self.wall(),
            settings=self.settings(),
            deliveries=self.deliveries(),
            secrets=self.secrets(),
            enqueue=self.enqueue,
            pace=self.pace(),
            in_parallel=self.machine.in_parallel,
            clock=self.machine.clock,
            milestones=Milestones(self.wall(), self.machine.clock.monotonic),
        )

    def worker(self) -> Worker:
        """What the queues call."""
        return Worker(
            deliveries=self.deliveries(),
            secrets=self.secrets(),
            sender=self.sender,
            tenant_of=lambda _: "t1",
            enqueue=self.enqueue,
            slow_pace=self.pace(),
            failures=self.failures(),
            clock=self.machine.clock,
            fast_receivers=FastReceivers(self.machine.clock.monotonic, lambda _: "t1"),
        )

    def failures(self) -> Failures:
        """What notes that a delivery has failed."""
        return Failures(self.endpoints(), lambda _: "t1", self.machine.clock)

    def sweeper(self) -> Sweeper:
        """What the schedule calls."""
        return Sweeper(
            deliveries=self.deliveries(),
            enqueue=self.enqueue,
            in_parallel=self.machine.in_parallel,
            clock=self.machine.clock,
        )

    def endpoint_sweep(self) -> EndpointSweep:
        """What the schedule calls for endpoints that fail."""
        return EndpointSweep(
            endpoints=self.endpoints(),
            settings=self.settings(),
            deliveries=self.deliveries(),
            redelivery=self.redelivery(),
            enqueue=self.enqueue,
            in_parallel=self.machine.in_parallel,
            clock=self.machine.clock,
            page=self.page,
        )

    def actions(self) -> Actions:
        """What organizers call."""
        return Actions(
            wall=self.wall(),
            settings=self.settings(),
            deliveries=self.deliveries(),
            secrets=self.secrets(),
            redelivery=self.redelivery(),
            attempt=self.worker().attempt,
            in_parallel=self.machine.in_parallel,
            clock=self.machine.clock,
            new_id=self.new_id,
            page=self.page,
        )

    def redelivery(self) -> Redelivery:
        """What sends deliveries again."""
        return Redelivery(self.deliveries(), self.enqueue, self.pace(), self.machine.clock)

    def notifier(self) -> Notifier:
        """What tells people of endpoints that fail."""
        return Notifier(
            endpoints=self.endpoints(),
            settings=self.settings(),
            deliveries=self.deliveries(),
            wall=self.wall(),
            people=People(self.documents(), _Limit(self.counts), self.machine.clock),
            mailer=lambda: self.mailer,
            sender=lambda: MailSender(address="Photo wall <wall@example.com>"),
            base_url="https://wall.example.com",
            clock=self.machine.clock,
        )

    def log_links(self) -> LogLinks:
        """What admins call to share a log."""
        return LogLinks(
            wall=self.wall(),
            settings=self.settings(),
            shares=self.shares(),
            keys=lambda: self.keys,
            base_url="https://wall.example.com/",
            clock=self.machine.clock,
            new_id=self.new_id,
        )

    def shared_log(self) -> SharedLog:
        """What the bearers of links call."""
        return SharedLog(
            settings=self.settings(),
            deliveries=self.deliveries(),
            shares=self.shares(),
            redelivery=self.redelivery(),
            rate_limit=_Limit(self.counts),
            clock=self.machine.clock,
        )

    def shares(self) -> LogShareStore:
        """Of logs."""
        return LogShareStore(self.documents())

    @property
    def enqueue(self) -> Enqueue:
        """Queues a task."""
        return enqueue_to(self.tasks, self.machine.call)

    def pace(self) -> Pace:
        """A pace that nothing has used yet."""
        return Pace(self.a_second, self.machine.clock.monotonic, lambda event_id: event_id)

    def documents(self) -> Documents:
        """The way to Firestore."""
        return InMemoryDocuments(self.firestore, self.machine.call)

    def settings(self) -> SettingsStore:
        """The webhook settings."""
        return SettingsStore(self.documents())

    def endpoints(self) -> EndpointStore:
        """The records of endpoints that fail."""
        return EndpointStore(self.documents())

    def wall(self) -> WallStore:
        """The event and its photos."""
        return WallStore(self.documents())

    def deliveries(self) -> DeliveryStore:
        """The records of deliveries."""
        return DeliveryStore(self.documents(), sweep_page=self.sweep_page)

    def secrets(self) -> RememberedSecrets:
        """The secrets; nothing is remembered yet."""
        return RememberedSecrets(
            SecretStore(self.documents()),
            new_secret=self.new_secret,
            clock=self.machine.clock,
        )
