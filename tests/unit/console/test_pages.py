"""The logic of the pages that needs no browser, tested in JavaScript."""

import re
import subprocess
from pathlib import Path
from typing import Final

from functions.webhooks.deliveries.queues import RETRY_SCHEDULE
from functions.webhooks.events import EventType

ROOT: Final = Path(__file__).parents[3]


def test_addresses_lists_signatures_commands_and_indexes() -> None:
    """Run the tests in `console/test`."""
    tests = ROOT / ".emulator" / "console-tests"
    _run("node", "console/build.mjs", "--tests")
    _run("node", "--test", *map(str, sorted(tests.glob("*.test.mjs"))))


def test_the_console_knows_the_event_types_and_the_number_of_attempts() -> None:
    """See spec 6.1 and 8."""
    domain = ROOT / "console/src/domain"
    types = re.findall(r'^  "(.*)": ', (domain / "event_type.ts").read_text(), re.MULTILINE)
    assert types == list(EventType)
    attempts = f"export const ATTEMPTS = {len(RETRY_SCHEDULE)};"
    assert attempts in (domain / "delivery.ts").read_text()


def _run(*command: str) -> None:
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
