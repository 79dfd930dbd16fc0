"""Design 4: keys from Secret Manager; its gRPC path, against a real gRPC server."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any

import grpc
import pytest
from google.api_core import exceptions
from google.cloud import secretmanager_v1
from google.cloud.secretmanager_v1.services.secret_manager_service.transports import (
    SecretManagerServiceGrpcTransport,
)

from emulator.cloud.api_server import ADDRESS_VARIABLE, ApiServer
from emulator.cloud.secret_manager import DESTROYED, DISABLED, ENABLED
from emulator.cloud.secret_manager import SecretManager as Keys
from functions import environment, process
from functions.gcp.secret_manager import (
    FRESH_SECONDS,
    KEPT_SECONDS,
    RETRY_SECONDS,
    MissingSecretError,
    SecretManager,
    secret_manager_client,
)
from functions.links.token import KEY_BYTES, InvalidTokenError, TokenKeys
from tests.unit.clock import Clock

NOW = datetime(2026, 8, 1, tzinfo=UTC)
KEY = "EMAIL_PREFS_KEY"
LIST, ACCESS = "ListSecretVersions", "AccessSecretVersion"


@pytest.fixture
def keys() -> Keys:
    """A project with one secret in one version."""
    return Keys("demo-wall", {KEY: "first"})


@pytest.fixture
def service(keys: Keys) -> Iterator[ApiServer]:
    """Secret Manager on a port of loopback."""
    with ApiServer(keys) as server:
        yield server


@pytest.fixture
def clock() -> Clock:
    """A clock that stands still."""
    return Clock(0.0)


@pytest.fixture
def instance(service: ApiServer, clock: Clock) -> Iterator[Callable[[], SecretManager]]:
    """The adapter as a new instance has it, with a real client of the service on loopback."""
    with grpc.insecure_channel(service.address) as channel:
        transport = SecretManagerServiceGrpcTransport(channel=channel)
        yield lambda: SecretManager(
            lambda: secretmanager_v1.SecretManagerServiceClient(transport=transport),
            "demo-wall",
            clock.process,
        )


@pytest.fixture
def secrets(instance: Callable[[], SecretManager]) -> SecretManager:
    """The adapter of one instance."""
    return instance()


def test_newest_first(keys: Keys, service: ApiServer, secrets: SecretManager) -> None:
    """Enabled versions come newest first, by number and not by text; disabled ones do not."""
    for number in range(2, 11):
        keys.add(KEY, f"number {number}")
    for number in range(3, 10):
        keys.set_state(KEY, number, DISABLED if number % 2 else DESTROYED)
    assert secrets.versions(KEY) == ("number 10", "number 2", "first")
    assert service.calls == [LIST, ACCESS, ACCESS, ACCESS]


def test_only_the_newest(keys: Keys, service: ApiServer, secrets: SecretManager) -> None:
    """Where one value is wanted, one is read, without the line break that a shell adds."""
    keys.add(KEY, "second\n")
    assert secrets.versions(KEY, at_most=1) == ("second",)
    assert service.calls == [LIST, ACCESS]


def test_kept(keys: Keys, service: ApiServer, secrets: SecretManager, clock: Clock) -> None:
    """A process reads a secret once in five minutes, and sees a rotation after that."""
    assert secrets.versions(KEY) == ("first",)
    keys.add(KEY, "second")
    clock.now = KEPT_SECONDS - 1
    assert secrets.versions(KEY) == ("first",)
    assert service.calls == [LIST, ACCESS]
    clock.now = KEPT_SECONDS
    assert secrets.versions(KEY) == ("second", "first")


def test_a_rotation_from_end_to_end(
    keys: Keys,
    instance: Callable[[], SecretManager],
    clock: Clock,
) -> None:
    """Design 3.57: no deploy; links signed before verify until their version is disabled."""
    secrets = instance()

    def signer() -> TokenKeys:
        return TokenKeys(secrets.versions(KEY))

    def verifies(token: str) -> bool:
        try:
            return signer().verify(token, NOW) == ("u1",)
        except InvalidTokenError:
            return False

    keys.set_state(KEY, 1, DESTROYED)  # too short to sign with
    first = keys.add(KEY, "1" * KEY_BYTES)
    before = signer().issue("u1", NOW)
    keys.add(KEY, "2" * KEY_BYTES)
    clock.now += KEPT_SECONDS
    since = signer().issue("u1", NOW)
    assert verifies(before)
    secrets = instance()
    assert verifies(before)
    assert verifies(since)
    assert signer().issue("u1", NOW) == since, "the newest version signs"
    keys.set_state(KEY, first, DISABLED)
    for wait in (KEPT_SECONDS, 0):
        clock.now += wait
        assert not verifies(before)
        assert verifies(since)
        secrets = instance()


def test_fresh_values(keys: Keys, service: ApiServer, secrets: SecretManager, clock: Clock) -> None:
    """Who needs a version of just now gets it; strangers have nothing read twice in ten seconds."""
    assert secrets.versions(KEY) == ("first",)
    keys.add(KEY, "second")
    clock.now += FRESH_SECONDS - 1
    assert secrets.versions(KEY, fresh=True) == ("first",)
    clock.now += 1
    assert secrets.versions(KEY) == ("first",)
    assert secrets.versions(KEY, fresh=True) == ("second", "first")
    read = len(service.calls)
    assert secrets.versions(KEY, fresh=True) == secrets.versions(KEY) == ("second", "first")
    assert len(service.calls) == read
    clock.now += FRESH_SECONDS
    service.refuse(LIST, grpc.StatusCode.UNKNOWN)
    assert secrets.versions(KEY, fresh=True) == ("second", "first"), "an outage"


def test_disabled_while_reading(keys: Keys, service: ApiServer, secrets: SecretManager) -> None:
    """A version that is disabled between the listing and the reading is left out."""
    keys.add(KEY, "second")
    service.before[ACCESS] = lambda: keys.set_state(KEY, 2, DISABLED)
    assert secrets.versions(KEY) == ("first",)


def test_service_down_later(
    keys: Keys,
    service: ApiServer,
    secrets: SecretManager,
    clock: Clock,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """When a refresh fails, the process goes on with what it has, and says so."""
    secrets.versions(KEY)
    service.refuse(LIST, grpc.StatusCode.UNKNOWN)
    clock.now = KEPT_SECONDS
    assert secrets.versions(KEY) == ("first",)
    assert '"WARNING", "message": "secret.stale"' in capfd.readouterr().out
    tried = len(service.calls)
    assert secrets.versions(KEY) == ("first",)
    assert len(service.calls) == tried
    keys.add(KEY, "second")
    clock.now += RETRY_SECONDS
    assert secrets.versions(KEY) == ("second", "first")


def test_service_down_at_first(service: ApiServer, secrets: SecretManager) -> None:
    """Where nothing was read before, the failure is the caller's; the next call tries again."""
    service.refuse(LIST, grpc.StatusCode.UNKNOWN)
    with pytest.raises(exceptions.Unknown):
        secrets.versions(KEY)
    assert secrets.versions(KEY) == ("first",)


def test_role_missing(
    keys: Keys, service: ApiServer, secrets: SecretManager, capfd: pytest.CaptureFixture[str]
) -> None:
    """Without the role that lists versions, the newest one is used, and the log says so."""
    keys.add(KEY, "second")
    service.refuse(LIST, grpc.StatusCode.PERMISSION_DENIED)
    assert secrets.versions(KEY) == ("second",)
    assert '"WARNING", "message": "secret.not-listed"' in capfd.readouterr().out


def test_no_enabled_version(keys: Keys, secrets: SecretManager, clock: Clock) -> None:
    """A secret without an enabled version is missing, though one was known, and may come back."""
    assert secrets.versions(KEY) == ("first",)
    keys.set_state(KEY, 1, DISABLED)
    clock.now = KEPT_SECONDS
    with pytest.raises(MissingSecretError):
        secrets.versions(KEY)
    keys.set_state(KEY, 1, ENABLED)
    assert secrets.versions(KEY) == ("first",)
    with pytest.raises(MissingSecretError):
        secrets.versions("never made")


def test_many_at_once(service: ApiServer, secrets: SecretManager) -> None:
    """Many calls at once on a fresh process read the secret once."""
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: secrets.versions(KEY), range(40)))
    assert found == [("first",)] * 40
    assert service.calls == [LIST, ACCESS]


def test_the_client_goes_where_it_is_told(
    service: ApiServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The local cloud names its stand-in in one variable; the client is the deployed one."""
    monkeypatch.setenv(ADDRESS_VARIABLE, service.address)
    monkeypatch.setenv("GCLOUD_PROJECT", "demo-wall")
    assert process.secret_reader().versions(KEY) == ("first",)


def test_the_client_has_the_options_and_credentials_of_all_clients(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Without keepalive a silent connection would last a quarter of an hour."""
    made: dict[str, Any] = {}

    def channel(_: str, **given: Any) -> grpc.Channel:
        made.update(given)
        return grpc.insecure_channel("127.0.0.1:9")

    credentials = object()
    monkeypatch.setattr(SecretManagerServiceGrpcTransport, "create_channel", channel)
    monkeypatch.setattr(environment, "credentials", lambda: (credentials, "demo-wall"))
    monkeypatch.delenv("GOOGLE_API_STAND_INS", raising=False)
    secret_manager_client.__wrapped__()  # type: ignore[attr-defined]
    assert made == {"credentials": credentials, "options": environment.CHANNEL_OPTIONS}
