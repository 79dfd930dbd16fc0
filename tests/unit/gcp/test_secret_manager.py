"""Design 3 and 4: keys from Secret Manager; its gRPC path, against a real gRPC server."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import grpc
import pytest
from google.api_core import exceptions
from google.cloud import secretmanager_v1
from google.cloud.secretmanager_v1 import SecretVersion
from google.cloud.secretmanager_v1.services.secret_manager_service.transports import (
    SecretManagerServiceGrpcTransport,
)

from functions.gcp import secret_manager
from functions.gcp.secret_manager import (
    KEPT_SECONDS,
    RETRY_SECONDS,
    MissingSecretError,
    SecretManager,
)
from functions.signed_links.keys import token_keys
from functions.signed_links.token import KEY_BYTES, InvalidTokenError, Scope

SECRET = "projects/demo-wall/secrets/EMAIL_PREFS_KEY"
NOW = datetime(2026, 8, 1, tzinfo=UTC)
ENABLED, DISABLED = SecretVersion.State.ENABLED, SecretVersion.State.DISABLED


@dataclass
class Service:
    """Two methods of google.cloud.secretmanager.v1.SecretManagerService, over one secret."""

    versions: dict[int, tuple[bytes, int]] = field(default_factory=dict)
    down: bool = False
    listable: bool = True
    calls: list[str] = field(default_factory=list)
    disabled_meanwhile: set[int] = field(default_factory=set)

    def list_secret_versions(self, request: Any, context: grpc.ServicerContext) -> Any:
        """All versions, in no useful order: a filter is a wish."""
        self._answer("list", context)
        if not self.listable:
            context.abort(grpc.StatusCode.PERMISSION_DENIED, "the role is missing")
        if request.parent != SECRET:
            context.abort(grpc.StatusCode.NOT_FOUND, "no such secret")
        return secretmanager_v1.ListSecretVersionsResponse(
            versions=[
                SecretVersion(name=f"{SECRET}/versions/{number}", state=state)
                for number, (_, state) in self.versions.items()
            ]
        )

    def access_secret_version(self, request: Any, context: grpc.ServicerContext) -> Any:
        """The value of one enabled version."""
        self._answer("access", context)
        named = request.name.rpartition("/")[2]
        number = max(self.versions) if named == "latest" else int(named)
        value, state = self.versions[number]
        if state != ENABLED or number in self.disabled_meanwhile:
            context.abort(grpc.StatusCode.FAILED_PRECONDITION, "the version is disabled")
        return secretmanager_v1.AccessSecretVersionResponse(
            name=request.name, payload=secretmanager_v1.SecretPayload(data=value)
        )

    def _answer(self, call: str, context: grpc.ServicerContext) -> None:
        self.calls.append(call)
        if self.down:
            context.abort(grpc.StatusCode.UNKNOWN, "down")


@dataclass
class Clock:
    """Seconds that pass when a test says so."""

    now: float = 0.0

    def __call__(self) -> float:
        """The time."""
        return self.now


@pytest.fixture
def service() -> Service:
    """A service with one version."""
    return Service({1: (b"first", ENABLED)})


@pytest.fixture
def clock() -> Clock:
    """A clock that stands still."""
    return Clock()


@pytest.fixture
def instance(service: Service, clock: Clock) -> Iterator[Callable[[], SecretManager]]:
    """The adapter as a new instance has it, with a real client of the service on loopback."""
    server = grpc.server(ThreadPoolExecutor(8))
    methods = {
        "ListSecretVersions": grpc.unary_unary_rpc_method_handler(
            service.list_secret_versions,
            request_deserializer=secretmanager_v1.ListSecretVersionsRequest.deserialize,
            response_serializer=secretmanager_v1.ListSecretVersionsResponse.serialize,
        ),
        "AccessSecretVersion": grpc.unary_unary_rpc_method_handler(
            service.access_secret_version,
            request_deserializer=secretmanager_v1.AccessSecretVersionRequest.deserialize,
            response_serializer=secretmanager_v1.AccessSecretVersionResponse.serialize,
        ),
    }
    name = "google.cloud.secretmanager.v1.SecretManagerService"
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(name, methods),))
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    channel = grpc.insecure_channel(f"127.0.0.1:{port}")
    transport = SecretManagerServiceGrpcTransport(channel=channel)
    yield lambda: SecretManager(
        lambda: secretmanager_v1.SecretManagerServiceClient(transport=transport),
        "demo-wall",
        clock,
    )
    channel.close()
    server.stop(None).wait()


@pytest.fixture
def secrets(instance: Callable[[], SecretManager]) -> SecretManager:
    """The adapter of one instance."""
    return instance()


def test_newest_first(service: Service, secrets: SecretManager) -> None:
    """Enabled versions come newest first, by number and not by text; disabled ones do not."""
    service.versions |= {10: (b"tenth", ENABLED), 9: (b"ninth", DISABLED), 2: (b"second", ENABLED)}
    assert secrets.versions("EMAIL_PREFS_KEY") == ("tenth", "second", "first")
    assert service.calls == ["list"] + ["access"] * 3


def test_only_the_newest(service: Service, secrets: SecretManager) -> None:
    """Where one value is wanted, one is read."""
    service.versions[2] = (b"second", ENABLED)
    assert secrets.versions("EMAIL_PREFS_KEY", at_most=1) == ("second",)
    assert service.calls == ["list", "access"]


def test_line_break(service: Service, secrets: SecretManager) -> None:
    """The line break that a shell adds to a value is no part of it."""
    service.versions[1] = (b"first\n", ENABLED)
    assert secrets.versions("EMAIL_PREFS_KEY") == ("first",)


def test_kept(service: Service, secrets: SecretManager, clock: Clock) -> None:
    """A process reads a secret once in five minutes, and sees a rotation after that."""
    assert secrets.versions("EMAIL_PREFS_KEY") == ("first",)
    service.versions[2] = (b"second", ENABLED)
    clock.now = KEPT_SECONDS - 1
    assert secrets.versions("EMAIL_PREFS_KEY") == ("first",)
    assert service.calls == ["list", "access"]
    clock.now = KEPT_SECONDS
    assert secrets.versions("EMAIL_PREFS_KEY") == ("second", "first")


def test_a_rotation_from_end_to_end(
    service: Service,
    instance: Callable[[], SecretManager],
    clock: Clock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Design 3: no deploy; links signed before verify until their version is disabled."""

    def cold_start() -> None:
        secrets = instance()
        monkeypatch.setattr(secret_manager, "_secret_manager", lambda: secrets)

    def verifies(token: str) -> bool:
        try:
            return token_keys().check(token, NOW, Scope.PREFERENCES) == "u1"
        except InvalidTokenError:
            return False

    service.versions = {1: (b"1" * KEY_BYTES, ENABLED)}
    cold_start()
    before = token_keys().issue("u1", NOW)
    service.versions[2] = (b"2" * KEY_BYTES, ENABLED)
    clock.now += KEPT_SECONDS
    since = token_keys().issue("u1", NOW)
    assert verifies(before)
    cold_start()
    assert verifies(before)
    assert verifies(since)
    assert token_keys().issue("u1", NOW) == since, "the newest version signs"
    service.versions[1] = (b"1" * KEY_BYTES, DISABLED)
    for wait in (KEPT_SECONDS, 0):
        clock.now += wait
        assert not verifies(before)
        assert verifies(since)
        cold_start()


def test_disabled_while_reading(service: Service, secrets: SecretManager) -> None:
    """A version that is disabled between the listing and the reading is left out."""
    service.versions[2] = (b"second", ENABLED)
    service.disabled_meanwhile = {2}
    assert secrets.versions("EMAIL_PREFS_KEY") == ("first",)


def test_service_down_later(
    service: Service, secrets: SecretManager, clock: Clock, capfd: pytest.CaptureFixture[str]
) -> None:
    """When a refresh fails, the process goes on with what it has, and says so."""
    secrets.versions("EMAIL_PREFS_KEY")
    service.down = True
    clock.now = KEPT_SECONDS
    assert secrets.versions("EMAIL_PREFS_KEY") == ("first",)
    assert '"WARNING", "message": "secret.stale"' in capfd.readouterr().out
    tried = len(service.calls)
    assert secrets.versions("EMAIL_PREFS_KEY") == ("first",)
    assert len(service.calls) == tried
    service.down, service.versions[2] = False, (b"second", ENABLED)
    clock.now += RETRY_SECONDS
    assert secrets.versions("EMAIL_PREFS_KEY") == ("second", "first")


def test_service_down_at_first(service: Service, secrets: SecretManager) -> None:
    """Where nothing was read before, the failure is the caller's; the next call tries again."""
    service.down = True
    with pytest.raises(exceptions.Unknown):
        secrets.versions("EMAIL_PREFS_KEY")
    service.down = False
    assert secrets.versions("EMAIL_PREFS_KEY") == ("first",)


def test_role_missing(
    service: Service, secrets: SecretManager, capfd: pytest.CaptureFixture[str]
) -> None:
    """Without the role that lists versions, the newest one is used, and the log says so."""
    service.versions[2] = (b"second", ENABLED)
    service.listable = False
    assert secrets.versions("EMAIL_PREFS_KEY") == ("second",)
    assert '"WARNING", "message": "secret.not-listed"' in capfd.readouterr().out


@pytest.mark.parametrize("versions", [{}, {1: (b"first", DISABLED)}])
def test_no_enabled_version(
    versions: dict[int, Any], service: Service, secrets: SecretManager
) -> None:
    """A secret without an enabled version is missing."""
    service.versions = versions
    with pytest.raises(MissingSecretError):
        secrets.versions("EMAIL_PREFS_KEY")


def test_many_at_once(service: Service, secrets: SecretManager) -> None:
    """Many calls at once on a fresh process read the secret once."""
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: secrets.versions("EMAIL_PREFS_KEY"), range(40)))
    assert found == [("first",)] * 40
    assert service.calls == ["list", "access"]


def test_local_suite(monkeypatch: pytest.MonkeyPatch) -> None:
    """In the local suite the keys come from the environment."""
    monkeypatch.setenv("FUNCTIONS_EMULATOR", "true")
    monkeypatch.setenv("EMAIL_PREFS_KEY", "local")
    monkeypatch.setenv("SENDGRID_API_KEY", "SG.local")
    assert secret_manager.versions("EMAIL_PREFS_KEY") == ("local",)
    assert secret_manager.versions("SENDGRID_API_KEY", at_most=1) == ("SG.local",)
    monkeypatch.setenv("EMAIL_PREFS_KEY", "")
    with pytest.raises(MissingSecretError):
        secret_manager.versions("EMAIL_PREFS_KEY")
