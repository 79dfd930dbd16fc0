"""Production adapters, and the service that uses them."""

import secrets
import threading
import time
from base64 import b64encode
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager
from contextvars import copy_context
from datetime import UTC, datetime
from importlib import import_module
from typing import TYPE_CHECKING, Final

from functions import cache, environment, local_suite, parameters, ports
from functions.firestore.client import documents
from functions.gcp.auth_users import FirebaseAccounts
from functions.gcp.secret_manager import SecretManager, secret_manager_client
from functions.service import Adapters, Service

if TYPE_CHECKING:
    from ssl import SSLContext

    from functions.gcp.cloud_tasks import CloudTasks
    from functions.local_suite import EmulatedTasks
    from functions.mail.message import Mailer
    from functions.webhooks.sender.http_sender import HttpSender

CLOCK: Final = ports.Clock(lambda: datetime.now(UTC), time.monotonic, time.sleep)
_WORD_BYTES: Final = 16
_SECRET_BYTES: Final = 32


@cache.once
def service() -> Service:
    """Return the service of the process. Created lazily, because a deploy has no credentials."""
    return Service(
        Adapters(
            clock=CLOCK,
            documents=documents,
            task_queue=ProcessTasks(),
            secrets=secret_reader(),
            sender=webhook_sender,
            mailer=_mailer,
            threads=ProcessThreads(),
            accounts=FirebaseAccounts(),
            random=SystemRandom(),
            parameters=parameters.from_deploy(),
        )
    )


@cache.once
def secret_reader() -> SecretManager:
    """Return the reader of Secret Manager with the cache of the process."""
    return SecretManager(secret_manager_client, environment.project_id() or "", CLOCK)


class ProcessTasks:
    """Adapter for `TaskQueue`. Creates its client on first use, so that a cold start is faster."""

    def __init__(self) -> None:
        self.lock = threading.RLock()

    @cache.lazy_property
    def queue(self) -> "CloudTasks | EmulatedTasks":
        """The emulator of Cloud Tasks if there is one, else Cloud Tasks."""
        from functions.gcp.cloud_tasks import CloudTasks

        return local_suite.emulated_tasks() or CloudTasks.from_environment()

    def enqueue(self, task: ports.Task) -> None:
        """Implement `TaskQueue.enqueue`."""
        self.queue.enqueue(task)


class SystemRandom:
    """Adapter for `Random` with the system's entropy."""

    def new_id(self) -> str:
        """Implement `Random.new_id`."""
        return secrets.token_hex(_WORD_BYTES)

    def webhook_secret(self) -> str:
        """Implement `Random.webhook_secret`."""
        from functions.webhooks.signing import WHSEC

        return WHSEC + b64encode(secrets.token_bytes(_SECRET_BYTES)).decode()


def _mailer() -> "Mailer":
    values = parameters.from_deploy()
    if values.mail_url:
        _load("google.cloud.secretmanager_v1", "email_validator")
        from functions.mail.smtp import SmtpMailer

        return SmtpMailer(secret_reader(), values.mail_url, values.mail_connections, _tls(), CLOCK)
    from functions.mail.sendgrid import SendGridMailer

    _load("google.cloud.secretmanager_v1", "email_validator", "sendgrid")
    return SendGridMailer(secret_reader(), values.sendgrid_host, CLOCK)


def _tls() -> "SSLContext":
    """Return a TLS context that trusts the authorities of `certifi`, and not the system's."""
    from ssl import create_default_context

    import certifi

    tls = create_default_context(cafile=certifi.where())
    if further := local_suite.webhook_ca_bundle():
        tls.load_verify_locations(further)
    return tls


def webhook_sender() -> "HttpSender":
    """Return the HTTP client for receivers, with the trusted authorities of this process."""
    from functions.webhooks.sender.adapter import PinnedAdapter
    from functions.webhooks.sender.http_sender import HttpSender

    _load("functions.webhooks.sender.resolver")
    return HttpSender(
        adapter=PinnedAdapter(_tls(), CLOCK),
        clock=CLOCK,
        may_be_loopback=local_suite.webhook_allow_loopback(),
    )


def _load(*modules: str) -> None:
    """Import modules in a thread while the first documents are read."""
    threading.Thread(target=lambda: [*map(import_module, modules)], daemon=True).start()


class ProcessThreads:
    """Adapter for `Threads`. Pools start their threads on demand."""

    def pool(self, at_once: int, name: str, *, caller_runs: bool = True) -> ports.ParallelMap:
        """Implement `Threads.pool`."""
        return _Pool(at_once, name, caller_runs=caller_runs)

    def mutex(self) -> AbstractContextManager[object]:
        """Implement `Threads.mutex`."""
        return threading.Lock()


class _Pool:
    """Pool of threads that run in the context of the call, so that log lines have its request."""

    def __init__(self, at_once: int, name: str, *, caller_runs: bool) -> None:
        self._own = int(caller_runs)
        self._pool = ThreadPoolExecutor(at_once, thread_name_prefix=name)

    def __call__(
        self, work: Callable[[ports.Item], ports.Result], items: Iterable[ports.Item], /
    ) -> list[ports.Result]:
        """Implement `ParallelMap`."""
        all_items = list(items)
        futures = [
            self._pool.submit(copy_context().run, work, item) for item in all_items[self._own :]
        ]
        done = [_done(work, item) for item in all_items[: self._own]]
        for item, future in zip(all_items[self._own :], futures, strict=True):
            done.append(_done(work, item) if self._own and future.cancel() else future)
        wait(done)
        return [future.result() for future in done]


def _done(work: Callable[[ports.Item], ports.Result], item: ports.Item) -> Future[ports.Result]:
    future: Future[ports.Result] = Future()
    try:
        future.set_result(work(item))
    except Exception as error:  # noqa: BLE001 - raised after all items were tried
        future.set_exception(error)
    return future
