"""docs/scale.md: tables are what simulation and prices come to, numbers are the code's."""

import os
from pathlib import Path
from typing import Final

import main
from bench import flood, scale
from bench.estimate import ATTEMPT_CPU, ATTEMPT_SECONDS, CPU_TARGET, DISPATCHES, PLACES
from bench.figures import p50, p99
from functions.webhooks.attempts.fast_receivers import PLACES_TO_TRY
from tools.command_list import ALL_VARIABLE

ROOT: Final = Path(__file__).parents[3]
PAGE: Final = (ROOT / "docs/scale.md").read_text()
SETTINGS: Final = dict(
    line.split("=", 1)
    for line in (ROOT / ".env").read_text().splitlines()
    if line and not line.startswith("#")
)

CASES: Final = flood.CASES if ALL_VARIABLE in os.environ else flood.CASES[:2]


def test_the_flood_comes_out_as_told() -> None:
    """The table of floods is the same on every machine."""
    assert [row for row in map(flood.row, CASES) if row not in PAGE] == []


def test_the_bill_is_as_told() -> None:
    """The bill of a million first attempts is calculated."""
    assert "\n".join(scale.bill()) in PAGE


def test_a_flood_makes_no_other_event_late() -> None:
    """A flood makes others 1.5 times later at most, and each part of the pace is needed."""
    alone = flood.late(flood.CASES[0])
    for case in CASES[1:]:
        late = flood.late(case)
        times = max(
            figure(late[url]) / figure(alone[url])
            for figure in (p50, p99)
            for url in (flood.GOOD, flood.FLAKY)
        )
        whole = case.pace and case.slow_queue and case.places
        assert (times <= 1.5) == whole or not case.slow_pace, case.name


def test_the_limits_are_the_codes() -> None:
    """A change of a limit in the code leads to the page."""
    pace = int(SETTINGS["EVENT_DELIVERIES_A_SECOND"])
    options = vars(main.deliverWebhook)["__firebase_endpoint__"]
    places = options.maxInstances * options.concurrency
    told = [
        f"{pace} a second (`EVENT_DELIVERIES_A_SECOND`)",
        f"{pace / flood.URLS:.0f} uploads a second an instance",
        f"{DISPATCHES.limit / flood.URLS:.0f} uploads a second with {flood.URLS} URLs",
        f"{options.maxInstances} instances (`DELIVERY_INSTANCES`)",
        f"{options.maxInstances * CPU_TARGET / ATTEMPT_CPU:,.0f} attempts a second",
        f"places for first attempts: {places}, which is {options.concurrency} an instance",
        f"{places / ATTEMPT_SECONDS:,.0f} attempts a second",
    ]
    assert [cell for cell in told if cell not in PAGE] == []
    assert PLACES.limit == places
    assert options.concurrency == 2 * PLACES_TO_TRY
