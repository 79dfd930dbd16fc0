"""The logic of the pages that needs no browser, tested in JavaScript."""

import subprocess
from pathlib import Path
from typing import Final

from functions.webhooks.deliveries.queues import RETRY_SCHEDULE

ROOT: Final = Path(__file__).parents[3]


def test_addresses_lists_signatures_commands_and_indexes() -> None:
    """Run the tests in `console/test`."""
    tests = ROOT / ".emulator" / "console-tests"
    _run("node", "console/build.mjs", "--tests")
    _run("node", "--test", *map(str, sorted(tests.glob("*.test.mjs"))))


def test_the_console_knows_the_number_of_attempts() -> None:
    """See spec 8."""
    attempts = f"export const ATTEMPTS = {len(RETRY_SCHEDULE)};"
    assert attempts in (ROOT / "console/src/domain/delivery.ts").read_text()


def _run(*command: str) -> None:
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
