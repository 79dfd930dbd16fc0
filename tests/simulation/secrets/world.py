"""The world of an event's webhook secret: superadmins who replace it, and instances that sign."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from itertools import groupby
from typing import Final

from functions.documents.document import Document
from functions.webhooks.signing.remembered_secrets import RememberedSecrets
from functions.webhooks.signing.store import SecretStore
from functions.webhooks.signing.webhook_secret import WebhookSecret
from tests.in_memory.documents import Firestore, InMemoryDocuments
from tests.simulation.simulation import (
    MINUTE,
    START,
    End,
    Instance,
    Pool,
    Returned,
    Simulation,
    current,
)

_EVENT: Final = "e1"
_CLOCKS_DIFFER: Final = timedelta(seconds=1)
_REMEMBERED: Final = MINUTE
_LATEST: Final = 10 * MINUTE
_SIGNED: Final = 40
_WAYS: Final = (0, 1, 1, 2, 5)
"""In how many minutes a new secret is to sign."""


@dataclass(frozen=True, slots=True)
class _Version:
    """What was recorded from `since` to `until`, in microseconds."""

    since: int
    until: int
    secret: WebhookSecret


class SecretWorld:
    """One event, whose secret is replaced some times within ten minutes while others sign."""

    def __init__(self, simulation: Simulation) -> None:
        """Put everybody on the schedule."""
        self._simulation = simulation
        self._made = 0
        self._written: list[tuple[int, WebhookSecret]] = []
        self._firestore = Firestore(lambda: simulation.now)
        self._firestore.watches.append(self._seen)
        self._signers = Pool(simulation, "signer", self._secrets, at_most=3)
        self._superadmins = Pool(simulation, "superadmin", self._secrets)
        choices = simulation.choices
        for number in range(choices.between("replaced", 1, 4)):
            minutes = choices.pick(f"replaced {number} in", _WAYS)
            at = choices.between(f"replaced {number} at", 0, _LATEST // 2)
            simulation.after(at, partial(self._replace, f"replace-{number}", minutes))
        self._simulation.after(
            choices.between("made at", 0, _LATEST // 2),
            lambda: self._signers.run("make", lambda secrets: secrets.make(_EVENT)),
        )
        for number in range(_SIGNED):
            at = choices.between(f"signed {number} at", 0, _LATEST)
            simulation.after(at, partial(self._sign, f"sign-{number}"))

    def violations(self) -> Iterator[str]:
        """A secret that was replaced never comes back."""
        present = [value for value, _ in groupby(secret.secret for _, secret in self._written)]
        for name in {item for item in present if present.count(item) > 1}:
            yield f"{name} is recorded again after it was replaced"

    def _replace(self, name: str, minutes: int) -> None:
        def replace(secrets: RememberedSecrets) -> None:
            if minutes:
                at = current().instance.now() + timedelta(minutes=minutes)
                secrets.announce(_EVENT, at)
            else:
                secrets.rotate(_EVENT)

        self._superadmins.run(name, replace)

    def _sign(self, name: str) -> None:
        def signed(end: End) -> None:
            if isinstance(end, Returned):
                self._check(name, str(end.value))

        self._signers.run(name, lambda secrets: secrets.of(_EVENT), signed)

    def _check(self, name: str, secret: str) -> None:
        until = self._simulation.time
        since = until - _REMEMBERED
        versions = [
            version
            for version in self._versions()
            if version.since <= until and version.until >= since
        ]
        if secret not in [version.secret.secret for version in versions]:
            self._simulation.violation(f"{name}: {secret} was not the present recorded secret")
        if secret not in _that_count(versions, since, until):
            self._simulation.violation(f"{name}: {secret} does not sign at that time")

    def _versions(self) -> Iterator[_Version]:
        ends = [at for at, _ in self._written[1:]]
        for (at, secret), until in zip(self._written, [*ends, self._simulation.time], strict=True):
            yield _Version(at, until, secret)

    def _seen(self, _: str, __: Document | None, after: Document | None) -> None:
        if after is None:
            return
        written = WebhookSecret.read(after.fields)
        self._simulation.note("record", str(sorted(written.fields.items())))
        announced = self._written[-1][1].next if self._written else None
        if announced and announced.secret == written.secret:
            early = announced.active_from - self._simulation.now
            if early > _CLOCKS_DIFFER:
                self._simulation.violation(f"{announced.secret} took over {early} early")
        self._written.append((self._simulation.time, written))

    def _secrets(self, instance: Instance) -> RememberedSecrets:
        return RememberedSecrets(
            SecretStore(InMemoryDocuments(self._firestore, instance.call)),
            new_secret=self._name,
            clock=instance.machine.clock,
        )

    def _name(self) -> str:
        self._made += 1
        return f"secret-{self._made}"


def _that_count(versions: Iterable[_Version], since: int, until: int) -> Iterator[str]:
    """The secrets that are to sign at some moment of that time, as the record says."""
    for version in versions:
        first, last = max(version.since, since), min(version.until, until)
        if version.secret.next is None:
            yield version.secret.secret
            continue
        due = version.secret.next.active_from
        if START + timedelta(microseconds=first) <= due + _CLOCKS_DIFFER:
            yield version.secret.secret
        if START + timedelta(microseconds=last) >= due - _CLOCKS_DIFFER:
            yield version.secret.next.secret
