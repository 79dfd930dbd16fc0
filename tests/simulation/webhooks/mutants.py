"""Mutants of the webhooks: one for each kind of fault."""

from dataclasses import replace
from typing import Final

from functions.webhooks.deliveries.delivery import Delivery
from functions.webhooks.deliveries.delivery_store import DeliveryStore
from functions.webhooks.deliveries.redelivery import Sweeper
from functions.webhooks.worker import Worker
from tests.simulation.mutant import Mutant

_save = DeliveryStore.save


def _save_without_version(self: DeliveryStore, delivery: Delivery) -> None:
    _save(self, replace(delivery, version=None))


MUTANTS: Final = (
    Mutant(
        "save-without-version",
        "the precondition on the version of a record when an attempt is saved",
        DeliveryStore,
        "save",
        _save_without_version,
    ),
    Mutant("no-sweeper", "the sweeper", Sweeper, "sweep", lambda _: 0),
    Mutant(
        "never-too-early",
        "to look at `next_attempt_at`",
        Worker,
        "_wait_until_due",
        lambda *_: None,
    ),
    Mutant(
        "settings-never-read",
        "to read the settings before a retry",
        Delivery,
        "needs_settings",
        lambda *_: False,
    ),
)
