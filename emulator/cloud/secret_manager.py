"""A stand-in for Secret Manager.

https://cloud.google.com/secret-manager/docs/reference/rpc/google.cloud.secretmanager.v1
"""

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import grpc
from google.cloud import secretmanager_v1
from google.cloud.secretmanager_v1 import SecretVersion

from emulator.cloud.api_server import Method, Refused

State = SecretVersion.State

ENABLED: Final = State(SecretVersion.State.ENABLED)
DISABLED: Final = State(SecretVersion.State.DISABLED)
DESTROYED: Final = State(SecretVersion.State.DESTROYED)


@dataclass(slots=True)
class _Version:
    value: bytes
    state: State = ENABLED


class SecretManager:
    """The secrets of one project. Their versions are numbered from 1."""

    name: str = "google.cloud.secretmanager.v1.SecretManagerService"

    def __init__(self, project: str, secrets: Mapping[str, str] | None = None) -> None:
        """Create `secrets`, each with one version."""
        self._project = project
        self._secrets: dict[str, dict[int, _Version]] = {}
        self._changing = threading.Lock()
        for secret, value in (secrets or {}).items():
            self.add(secret, value)

    def add(self, secret: str, value: str) -> int:
        """Add a version and return its number. Create the secret if it is missing."""
        with self._changing:
            versions = self._secrets.setdefault(secret, {})
            number = len(versions) + 1
            versions[number] = _Version(value.encode())
            return number

    def set_state(self, secret: str, number: int, state: State) -> None:
        """Enable, disable or destroy a version.

        Raises:
            Refused: The version does not exist, or was destroyed.
        """
        with self._changing:
            version = self._version(secret, str(number))
            if version.state == DESTROYED and state != DESTROYED:
                raise Refused(
                    grpc.StatusCode.FAILED_PRECONDITION, "The version has been destroyed."
                )
            version.state = state
            if state == DESTROYED:
                version.value = b""

    @property
    def methods(self) -> Mapping[str, Method]:
        """The methods that the functions call."""
        api = secretmanager_v1
        return {
            "ListSecretVersions": Method(
                self._list, api.ListSecretVersionsRequest.pb(), api.ListSecretVersionsResponse.pb()
            ),
            "AccessSecretVersion": Method(
                self._access,
                api.AccessSecretVersionRequest.pb(),
                api.AccessSecretVersionResponse.pb(),
            ),
        }

    def _list(self, request: Any) -> Any:
        """List versions, newest first. The only supported filter is `state:`."""
        secret = self._named(request.parent)
        wanted = request.filter.removeprefix("state:")
        with self._changing:
            versions = [
                _version_message(f"{request.parent}/versions/{number}", version.state)
                for number, version in sorted(self._found(secret).items(), reverse=True)
                if wanted in {"", version.state.name}
            ]
        return secretmanager_v1.ListSecretVersionsResponse.pb()(
            versions=versions, total_size=len(versions)
        )

    def _access(self, request: Any) -> Any:
        parent, _, number = request.name.rpartition("/versions/")
        with self._changing:
            version = self._version(self._named(parent), number)
            if version.state != ENABLED:
                raise Refused(
                    grpc.StatusCode.FAILED_PRECONDITION,
                    f"Secret Version [{request.name}] is in {version.state.name} state.",
                )
            return secretmanager_v1.AccessSecretVersionResponse.pb()(
                name=request.name, payload={"data": version.value}
            )

    def _named(self, parent: str) -> str:
        prefix = f"projects/{self._project}/secrets/"
        if not parent.startswith(prefix):
            raise Refused(
                grpc.StatusCode.PERMISSION_DENIED, f"Permission denied on resource {parent}."
            )
        return parent.removeprefix(prefix)

    def _found(self, secret: str) -> dict[int, _Version]:
        if secret not in self._secrets:
            raise Refused(grpc.StatusCode.NOT_FOUND, f"Secret [{secret}] not found.")
        return self._secrets[secret]

    def _version(self, secret: str, number: str) -> _Version:
        """Return the version with a number, or the newest for `latest`, in any state."""
        versions = self._found(secret)
        key = max(versions, default=0) if number == "latest" else int(number)
        if key not in versions:
            raise Refused(grpc.StatusCode.NOT_FOUND, f"Secret [{secret}] has no version {number}.")
        return versions[key]


def _version_message(name: str, state: State) -> Any:
    return SecretVersion.pb(SecretVersion(name=name, state=state))
