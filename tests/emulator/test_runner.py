"""`python3 -m emulator`, run as a user runs it."""

import subprocess
import sys
from typing import Final

from emulator.environment import ROOT

# Seconds.
LIMIT: Final = 120


def test_exec_without_a_command_explains_itself() -> None:
    """A wrong command line is answered with the right one."""
    ran = subprocess.run(
        [sys.executable, "-m", "emulator", "exec", "--"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=LIMIT,
    )

    assert ran.returncode == 2
    assert "exec -- CMD" in ran.stderr
