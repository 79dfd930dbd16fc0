"""docs/scale.md: tables are what simulation and prices come to, numbers are the code's."""

from pathlib import Path
from typing import Final

import main
from functions.webhooks.deliveries.first_queues import ORDINARY
from functions.webhooks.slow_receivers import EVENT_SHARE
from tests.bench import flood, scale
from tests.bench.estimate import ATTEMPT_CPU, ATTEMPT_SECONDS, CPU_TARGET, DISPATCHES, PLACES

ROOT: Final = Path(__file__).parents[3]
PAGE: Final = (ROOT / "docs/scale.md").read_text()
SETTINGS: Final = dict(
    line.split("=", 1)
    for line in (ROOT / ".env").read_text().splitlines()
    if line and not line.startswith("#")
)


def test_the_simulation_comes_out_as_told() -> None:
    """On every machine: it has a seed."""
    assert "\n".join(scale.table()) in PAGE


def test_the_flood_comes_out_as_told() -> None:
    """Who makes way is decided by the service's own rules."""
    assert "\n".join(flood.table()) in PAGE


def test_the_bill_is_as_told() -> None:
    """What a million first attempts cost, and what comes on top."""
    assert "\n".join(scale.bill()) in PAGE


def test_more_queues_carry_more() -> None:
    """One carries 500 a second and no more; two carry twice as much."""
    one, two = scale.minute(900, 1), scale.minute(900, 2)
    assert one.dispatched < DISPATCHES.limit * 1.01 < two.dispatched
    assert two.late < 1 < one.median


def test_the_limits_are_the_codes() -> None:
    """Whoever changes one of them finds the page."""
    share = int(SETTINGS["EVENT_DELIVERIES_A_SECOND"])
    assert share == flood.EVENT_A_SECOND
    options = vars(main.deliverWebhook)["__firebase_endpoint__"]
    told = [
        f"{share} a second (`EVENT_DELIVERIES_A_SECOND`)",
        f"{share / scale.URLS:.1f} uploads a second an instance",
        f"{DISPATCHES.limit / scale.URLS:.0f} uploads a second with {scale.URLS} URLs",
        f"{int(SETTINGS['DELIVERY_CONCURRENCY']):,} a queue",
        f"{options.maxInstances} instances a queue",
        f"{options.maxInstances * CPU_TARGET / ATTEMPT_CPU:,.0f} attempts a second",
        f"{PLACES.limit / ATTEMPT_SECONDS:,.0f}"[:3],
        f"{EVENT_SHARE} of an instance's 80",
        f"deliverWebhook{len(ORDINARY) + 1}",
    ]
    assert [one for one in told if one not in PAGE] == []
    assert PLACES.limit == int(SETTINGS["DELIVERY_CONCURRENCY"])
