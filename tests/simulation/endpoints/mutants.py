"""Mutants of the code for failing endpoints."""

from typing import Final

from functions.webhooks.endpoints.endpoint_store import Failures
from functions.webhooks.endpoints.notifier import Notifier
from tests.simulation.mutant import Mutant

MUTANTS: Final = tuple(
    Mutant(name, left_out, of, method, lambda *_: None)
    for name, left_out, of, method in (
        ("told-unrecorded", "to record the last notice", Notifier, "_record"),
        ("never-noted", "to record a failure", Failures, "note"),
    )
)
