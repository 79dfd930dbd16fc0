"""Design 4: the adapter of Secret Manager with a real gRPC server."""

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
    SecretManager,
    secret_manager_client,
)
from functions.links.token import KEY_BYTES, InvalidTokenError, TokenKeys
from functions.ports import MissingSecretError
from tests.unit.clock import Clock

NOW = datetime(2026, 8, 1, tzinfo=UTC)
KEY = "EMAIL_PREFS_KEY"
LIST, ACCESS = "ListSecretVersions", "AccessSecretVersion"


@pytest.fixture
def keys() -> Keys:
    """Return a project with one secret in one version."""
    return Keys("demo-wall", {KEY: "first"})


@pytest.fixture
def service(keys: Keys) -> Iterator[ApiServer]:
    """Run Secret Manager on loopback."""
    with ApiServer(keys) as server:
        yield server


@pytest.fixture
def clock() -> Clock:
    """Return a clock that the test sets."""
    return Clock(0.0)


@pytest.fixture
def instance(service: ApiServer, clock: Clock) -> Iterator[Callable[[], SecretManager]]:
    """Return a factory of the adapter of a new instance, with a real client."""
    with grpc.insecure_channel(service.address) as channel:
        transport = SecretManagerServiceGrpcTransport(channel=channel)
        yield lambda: SecretManager(
            lambda: secretmanager_v1.SecretManagerServiceClient(transport=transport),
            "demo-wall",
            clock.process,
        )


@pytest.fixture
def secrets(instance: Callable[[], SecretManager]) -> SecretManager:
    """Return the adapter of one instance."""
    return instance()


def test_enabled_versions_are_returned_newest_first(
    keys: Keys, service: ApiServer, secrets: SecretManager
) -> None:
    """Sort by number, not by text."""
    for number in range(2, 11):
        keys.add(KEY, f"number {number}")
    for number in range(3, 10):
        keys.set_state(KEY, number, DISABLED if number % 2 else DESTROYED)
    assert secrets.versions(KEY) == ("number 10", "number 2", "first")
    assert service.calls == [LIST, ACCESS, ACCESS, ACCESS]


def test_one_value_needs_one_access(keys: Keys, service: ApiServer, secrets: SecretManager) -> None:
    """Remove the line break that a shell adds."""
    keys.add(KEY, "second\n")
    assert secrets.versions(KEY, at_most=1) == ("second",)
    assert service.calls == [LIST, ACCESS]


def test_a_secret_is_cached_for_five_minutes(
    keys: Keys, service: ApiServer, secrets: SecretManager, clock: Clock
) -> None:
    """A rotation is found afterwards."""
    assert secrets.versions(KEY) == ("first",)
    keys.add(KEY, "second")
    clock.now = KEPT_SECONDS - 1
    assert secrets.versions(KEY) == ("first",)
    assert service.calls == [LIST, ACCESS]
    clock.now = KEPT_SECONDS
    assert secrets.versions(KEY) == ("second", "first")


def test_links_from_before_a_rotation_verify_until_their_version_is_disabled(
    keys: Keys,
    instance: Callable[[], SecretManager],
    clock: Clock,
) -> None:
    """Design 3.57: a rotation needs no deployment."""
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


def test_fresh_values_are_read_at_most_every_ten_seconds(
    keys: Keys, service: ApiServer, secrets: SecretManager, clock: Clock
) -> None:
    """A caller can need a version that was just added. Strangers must not cause many reads."""
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


def test_cached_values_are_used_while_a_refresh_fails(
    keys: Keys,
    service: ApiServer,
    secrets: SecretManager,
    clock: Clock,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """Log a warning."""
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


def test_a_first_read_that_fails_raises_its_error(
    service: ApiServer, secrets: SecretManager
) -> None:
    """The next call tries again."""
    service.refuse(LIST, grpc.StatusCode.UNKNOWN)
    with pytest.raises(exceptions.Unknown):
        secrets.versions(KEY)
    assert secrets.versions(KEY) == ("first",)


def test_without_the_role_to_list_versions_the_newest_is_used(
    keys: Keys, service: ApiServer, secrets: SecretManager, capfd: pytest.CaptureFixture[str]
) -> None:
    """Log a warning."""
    keys.add(KEY, "second")
    service.refuse(LIST, grpc.StatusCode.PERMISSION_DENIED)
    assert secrets.versions(KEY) == ("second",)
    assert '"WARNING", "message": "secret.not-listed"' in capfd.readouterr().out


def test_a_secret_without_an_enabled_version_is_missing(
    keys: Keys, secrets: SecretManager, clock: Clock
) -> None:
    """This includes a secret with a cached version. It is found again once a version is enabled."""
    assert secrets.versions(KEY) == ("first",)
    keys.set_state(KEY, 1, DISABLED)
    clock.now = KEPT_SECONDS
    with pytest.raises(MissingSecretError):
        secrets.versions(KEY)
    keys.set_state(KEY, 1, ENABLED)
    assert secrets.versions(KEY) == ("first",)
    with pytest.raises(MissingSecretError):
        secrets.versions("never created")


def test_concurrent_first_calls_read_a_secret_once(
    service: ApiServer, secrets: SecretManager
) -> None:
    """Run 40 calls in a new process."""
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: secrets.versions(KEY), range(40)))
    assert found == [("first",)] * 40
    assert service.calls == [LIST, ACCESS]


def test_the_client_connects_to_the_address_in_the_environment(
    service: ApiServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The local service uses the deployed client with its own Secret Manager."""
    monkeypatch.setenv(ADDRESS_VARIABLE, service.address)
    monkeypatch.setenv("GCLOUD_PROJECT", "demo-wall")
    assert process.secret_reader().versions(KEY) == ("first",)


def test_the_client_has_the_options_and_credentials_of_all_clients(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Without keepalive a broken connection would stay open for a quarter of an hour."""
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
