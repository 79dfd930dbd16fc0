"""Keys from Secret Manager, so that they rotate without a deploy.

https://cloud.google.com/secret-manager/docs
"""

from __future__ import annotations

import functools
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from functions import log
from functions.gcp import parameters
from functions.gcp.firestore import project_id

if TYPE_CHECKING:
    from collections.abc import Callable

    from google.cloud.secretmanager_v1 import SecretManagerServiceClient

KEPT_SECONDS: Final = 300.0
"""How long a process uses what it has read: a new version is everywhere after that."""

RETRY_SECONDS: Final = 30.0
"""How long a process that could not refresh leaves it at what it has."""

CALL_SECONDS: Final = 5.0
"""How long one call may take with its repetitions."""

MAX_VERSIONS: Final = 10
"""The newest enabled versions that are read; older ones belong to be disabled."""


class MissingSecretError(Exception):
    """The secret has no enabled version."""


@dataclass(frozen=True, slots=True)
class _Kept:
    values: tuple[str, ...]
    until: float


@dataclass(frozen=True, slots=True)
class _Failed:
    error: Exception
    at: float


class SecretManager:
    """Reads secrets and keeps them for some minutes; one instance serves all threads."""

    def __init__(
        self,
        client: Callable[[], SecretManagerServiceClient],
        project: str,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`client` is called on first use; `clock` gives seconds that only grow."""
        self._client = functools.cache(client)
        self._project = project
        self._clock = clock
        self._kept: dict[str, _Kept] = {}
        self._failed: dict[str, _Failed] = {}
        self._refreshing = threading.Lock()

    def versions(self, name: str, *, at_most: int = MAX_VERSIONS) -> tuple[str, ...]:
        """Values of the secret's enabled versions, the newest first, without surrounding space.

        Raises:
            MissingSecretError: it has none.
            Exception: Secret Manager could not be reached, and was not before.
        """
        began = self._clock()
        kept = self._kept.get(name)
        if kept and began < kept.until:
            return kept.values
        # Whoever has values to go on with does not wait for the one that renews them.
        if not self._refreshing.acquire(blocking=kept is None):
            return kept.values if kept else ()
        try:
            kept = self._kept.get(name)
            if kept and self._clock() < kept.until:
                return kept.values
            failed = self._failed.get(name)
            if failed and failed.at > began:
                # In an outage those who waited do not each wait for another failure.
                raise failed.error
            return self._refreshed(name, kept, at_most)
        finally:
            self._refreshing.release()

    def _refreshed(self, name: str, kept: _Kept | None, at_most: int) -> tuple[str, ...]:
        try:
            values, seconds = self._read(name, at_most), KEPT_SECONDS
        except Exception as error:
            if kept is None:
                self._failed[name] = _Failed(error, self._clock())
                raise
            log.warning("secret.stale", secret=name, exception=type(error).__name__)
            values, seconds = kept.values, RETRY_SECONDS
        self._kept[name] = _Kept(values, self._clock() + seconds)
        return values

    def _read(self, name: str, at_most: int) -> tuple[str, ...]:
        from google.api_core import exceptions  # noqa: PLC0415 - a cold start
        from google.api_core.retry import Retry  # noqa: PLC0415
        from google.cloud.secretmanager_v1 import SecretVersion  # noqa: PLC0415

        client = self._client()
        secret = f"projects/{self._project}/secrets/{name}"
        how: dict[str, Any] = {
            "retry": Retry(initial=0.1, maximum=1.0, timeout=CALL_SECONDS),
            "timeout": CALL_SECONDS,
        }
        try:
            request = {"parent": secret, "filter": "state:ENABLED"}
            listed = client.list_secret_versions(request=request, **how)
            enabled = [one.name for one in listed if one.state == SecretVersion.State.ENABLED]
            enabled.sort(key=lambda version: int(version.rpartition("/")[2]), reverse=True)
        except exceptions.PermissionDenied:
            # Listing takes the role `secretmanager.viewer`, reading another. The newest version
            # alone is better than none.
            log.warning("secret.not-listed", secret=name)
            enabled = [f"{secret}/versions/latest"]
        values = []
        for version in enabled:
            try:
                found = client.access_secret_version(request={"name": version}, **how)
            except (exceptions.FailedPrecondition, exceptions.NotFound):
                continue  # disabled or destroyed since it was listed
            values.append(found.payload.data.decode().strip())
            if len(values) == at_most:
                break
        if not values:
            raise MissingSecretError(name)
        return tuple(values)


@functools.cache
def _secret_manager() -> SecretManager:
    return SecretManager(_client, project_id() or "")


def _client() -> SecretManagerServiceClient:
    # The client library is a good part of a cold start, and not every function needs it.
    from google.cloud.secretmanager_v1 import SecretManagerServiceClient  # noqa: PLC0415

    if not (stand_ins := parameters.api_stand_ins()):
        return SecretManagerServiceClient()
    import grpc  # noqa: PLC0415 - as above
    from google.cloud.secretmanager_v1.services.secret_manager_service.transports import (  # noqa: PLC0415
        SecretManagerServiceGrpcTransport,
    )

    channel = grpc.insecure_channel(stand_ins)
    return SecretManagerServiceClient(transport=SecretManagerServiceGrpcTransport(channel=channel))


def versions(name: str, *, at_most: int = MAX_VERSIONS) -> tuple[str, ...]:
    """Values of the enabled versions of the secret `name`, the newest first.

    Raises:
        MissingSecretError: there is none.
        Exception: Secret Manager could not be reached.
    """
    return _secret_manager().versions(name, at_most=at_most)
