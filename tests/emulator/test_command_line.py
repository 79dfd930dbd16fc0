"""`python3 -m emulator`, run as it cannot be run: a sentence that helps."""

import os
import subprocess
import sys

import pytest

from tools.places import ROOT

_AS_ANOTHER_VERSION = """
import sys
sys.version_info = (3, {minor}, 0, "final", 0)
sys.argv = ["emulator", "demo"]
from emulator.__main__ import main
sys.exit(main())
"""


@pytest.mark.parametrize("minor", [9, 15])
def test_an_unsupported_python_is_refused_with_a_sentence(minor: int) -> None:
    """Status 2 and no traceback, whether it is too old or too new."""
    done = subprocess.run(
        [sys.executable, "-c", _AS_ANOTHER_VERSION.format(minor=minor)],
        cwd=ROOT,
        env={"PATH": os.devnull},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 2
    assert f"This is Python 3.{minor}. Python 3.11 to 3.14 is needed" in done.stderr
    assert "Traceback" not in done.stderr


def test_exec_without_a_command_explains_itself() -> None:
    """A wrong command line is answered with the right one."""
    done = subprocess.run(
        [sys.executable, "-m", "emulator", "exec", "--"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 2
    assert "exec -- CMD" in done.stderr
