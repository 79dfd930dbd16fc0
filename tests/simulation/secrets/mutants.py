"""The memory of secrets with one thought left out."""

from typing import Final

from functions.webhooks.signing.remembered_secrets import RememberedSecrets
from tests.simulation.mutant import Mutant, instead_of


def _of_memory(self: RememberedSecrets, event_id: str) -> str:
    kept = self._kept.get(event_id) or self._change(event_id, lambda present: present)
    return kept.at(self.clock.now()).secret


MUTANTS: Final = (
    Mutant(
        "secrets",
        "takes-over-from-memory",
        "an announced secret is recorded before it signs",
        instead_of(RememberedSecrets, "of", _of_memory),
    ),
)
