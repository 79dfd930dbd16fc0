"""Adapter for Secret Manager, with a cache. New versions of a secret need no deploy.

https://cloud.google.com/secret-manager/docs
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from functions import cache, environment, local_suite, log, ports

if TYPE_CHECKING:
    from google.cloud.secretmanager_v1 import SecretManagerServiceClient

KEPT_SECONDS: Final = 300.0
"""How long a process caches a secret. After that time every process uses a new version."""

FRESH_SECONDS: Final = 10.0
"""Maximum age, in seconds, of a fresh read. Not zero, because anonymous callers can request one."""

RETRY_SECONDS: Final = 30.0
"""Seconds after a failed refresh during which the old values are used."""

SECRETS_TIMEOUT_SECONDS: Final = 5.0
"""Timeout of one call, including retries."""

MAX_VERSIONS: Final = 10
"""Maximum number of versions to read: the newest enabled versions."""


@dataclass(frozen=True, slots=True)
class _Read:
    """A cached read result (values or error), valid until `until`."""

    values: tuple[str, ...]
    at: float
    until: float
    error: Exception | None = None

    def serves(self, asked: float, *, fresh: bool) -> bool:
        """Return whether the result is valid for a caller at the time `asked`."""
        return asked < (min(self.at + FRESH_SECONDS, self.until) if fresh else self.until)


@dataclass(eq=False, slots=True)
class SecretManager:
    """Adapter that reads and caches secrets. Shared by all threads."""

    client: "Callable[[], SecretManagerServiceClient]"
    """Returns the client. Called for every read of a secret."""
    project: str
    clock: ports.Clock
    _kept: dict[str, _Read] = field(default_factory=dict, init=False)
    _refreshing: threading.Lock = field(default_factory=threading.Lock, init=False)

    def versions(
        self, name: str, *, at_most: int = MAX_VERSIONS, fresh: bool = False
    ) -> tuple[str, ...]:
        """Return the values of the secret's enabled versions, newest first, stripped.

        `fresh` values were read in the last `FRESH_SECONDS`, unless Secret Manager is unavailable.

        Raises:
            MissingSecretError: No version is enabled.
            Exception: Secret Manager is unavailable and no value is cached.
        """
        asked = self.clock.monotonic()
        kept = self._kept.get(name)
        if not kept or not kept.serves(asked, fresh=fresh):
            # A thread with cached values does not wait for the thread that refreshes them.
            if not self._refreshing.acquire(blocking=fresh or not (kept and kept.values)):
                return kept.values if kept else ()
            try:
                kept = self._kept.get(name)
                if not kept or not kept.serves(asked, fresh=fresh):
                    kept = self._kept[name] = self._refreshed(name, kept, at_most)
            finally:
                self._refreshing.release()
        if kept.error:
            raise kept.error
        return kept.values

    def _refreshed(self, name: str, kept: _Read | None, at_most: int) -> _Read:
        try:
            values = self._read(name, at_most)
        except Exception as error:  # noqa: BLE001 - raised in every waiting thread
            now = self.clock.monotonic()
            if not kept or not kept.values or isinstance(error, ports.MissingSecretError):
                # During an outage the waiting threads share this failure.
                return _Read((), now, now, error)
            log.warning("secret.stale", secret=name, exception=type(error).__name__)
            return _Read(kept.values, now, now + RETRY_SECONDS)
        now = self.clock.monotonic()
        return _Read(values, now, now + KEPT_SECONDS)

    def _read(self, name: str, at_most: int) -> tuple[str, ...]:
        from google.api_core import exceptions  # noqa: PLC0415 - a cold start
        from google.api_core.retry import Retry  # noqa: PLC0415
        from google.cloud.secretmanager_v1 import SecretVersion  # noqa: PLC0415

        client = self.client()
        secret = f"projects/{self.project}/secrets/{name}"
        how: dict[str, Any] = {
            "retry": Retry(initial=0.1, maximum=1.0, timeout=SECRETS_TIMEOUT_SECONDS),
            "timeout": SECRETS_TIMEOUT_SECONDS,
        }
        try:
            request = {"parent": secret, "filter": "state:ENABLED"}
            listed = client.list_secret_versions(request=request, **how)
            enabled = [
                version.name for version in listed if version.state == SecretVersion.State.ENABLED
            ]
            enabled.sort(key=lambda name: int(name.rpartition("/")[2]), reverse=True)
        except exceptions.NotFound as missing:
            raise ports.MissingSecretError(name) from missing
        except exceptions.PermissionDenied:
            # Listing needs the role `secretmanager.viewer`, and reading another role. Without the
            # first, use only the latest version.
            log.warning("secret.not-listed", secret=name)
            enabled = [f"{secret}/versions/latest"]
        values = []
        for version in enabled:
            try:
                secret_version = client.access_secret_version(request={"name": version}, **how)
            except (exceptions.FailedPrecondition, exceptions.NotFound):
                continue  # disabled or destroyed after it was listed
            values.append(secret_version.payload.data.decode().strip())
            if len(values) == at_most:
                break
        if not values:
            raise ports.MissingSecretError(name)
        return tuple(values)


@cache.once
def secret_manager_client() -> "SecretManagerServiceClient":
    """Return the client of the process. Created lazily, because its library loads slowly."""
    import grpc  # noqa: PLC0415 - a cold start
    from google.cloud.secretmanager_v1 import SecretManagerServiceClient  # noqa: PLC0415
    from google.cloud.secretmanager_v1.services.secret_manager_service.transports import (  # noqa: PLC0415
        SecretManagerServiceGrpcTransport,
    )

    if stand_ins := local_suite.api_stand_ins():
        channel = grpc.insecure_channel(stand_ins, options=environment.CHANNEL_OPTIONS)
    else:
        channel = SecretManagerServiceGrpcTransport.create_channel(
            SecretManagerServiceClient.DEFAULT_ENDPOINT,
            credentials=environment.credentials()[0],
            options=environment.CHANNEL_OPTIONS,
        )
    return SecretManagerServiceClient(transport=SecretManagerServiceGrpcTransport(channel=channel))
