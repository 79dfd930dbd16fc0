"""The memory of secrets with one thought left out each."""

from typing import Final

from functions.webhooks.signing.remembered_secrets import RememberedSecrets
from tests.simulation.mutant import Mutant, instead_of


def _of_memory(self: RememberedSecrets, event_id: str) -> str:
    kept = self._kept.get(event_id) or self._change(event_id, lambda present: present)
    return kept.at(self._clock.now()).secret


def _sign_after_a_long_read(self: RememberedSecrets, event_id: str) -> str:
    kept = self._kept.get(event_id)
    if kept is None or kept.is_over(self._clock.now()):
        kept = self._change(event_id, lambda present: present)
    return kept.secret


MUTANTS: Final = tuple(
    Mutant("secrets", name, left_out, instead_of(of, method, do))
    for name, left_out, of, method, do in (
        (
            "takes-over-from-memory",
            "an announced secret is recorded before it signs",
            RememberedSecrets,
            "of",
            _of_memory,
        ),
        (
            "signs-after-a-long-read",
            "a secret that took minutes to read is read again",
            RememberedSecrets,
            "of",
            _sign_after_a_long_read,
        ),
    )
)
