"""What the pages know without a browser, tested in their own language."""

import subprocess
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[3]


def test_addresses_lists_signatures_commands_and_indexes() -> None:
    """The tests in `console/test`: everything of the pages that neither draws nor asks."""
    tests = ROOT / ".emulator" / "console-tests"
    _run("node", "console/build.mjs", "--tests")
    _run("node", "--test", *map(str, sorted(tests.glob("*.test.mjs"))))


def _run(*command: str) -> None:
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
