"""`python3 -m emulator pins`: requirements.txt, made of requirements.in.

Complete, pinned, and with the hashes of every file of each release, so that the same file installs
on each Python and system that we support, and nothing else ever does.
"""

from __future__ import annotations

import os
import sys
import venv
from typing import TYPE_CHECKING

from emulator import pythons
from emulator.environment import ROOT, STATE
from emulator.environment.python import DEPLOYED
from emulator.environment.steps import output_of, run_step

if TYPE_CHECKING:
    from collections.abc import Sequence

# Resolves for all our Pythons at once, and asks the registry for hashes instead of for files.
RESOLVER = "uv==0.13.9"
SOURCE = ROOT / "requirements.in"
HEADER = f"""\
# What `firebase deploy` installs. Made of {SOURCE.name}, which has the reasons:
#   python3 -m emulator pins              after a change there
#   python3 -m emulator pins --upgrade    and for newer versions of the rest
"""


def renew(arguments: Sequence[str]) -> None:
    """Write requirements.txt anew; what is pinned there already stays unless it has to change.

    Args:
        arguments: Passed on to `uv pip compile`.

    Raises:
        SetupError: A requirement cannot be met, or the registry not be reached.
    """
    folder = STATE / "pins"
    python = folder / "bin" / "python"
    venv.create(folder, symlinks=True, with_pip=True)
    run_step(
        f"Installing {RESOLVER}",
        [str(python), "-m", "pip", "install", "--quiet", RESOLVER],
        log="pins.log",
    )
    oldest = "{}.{}".format(*min(pythons.SUPPORTED))
    run_step(
        "Resolving",
        [
            *(str(folder / "bin" / "uv"), "pip", "compile", SOURCE.name),
            *("--output-file", DEPLOYED.name, "--universal", "--python-version", oldest),
            *("--generate-hashes", "--annotation-style", "line", "--no-header"),
            *_index(),
            *arguments,
        ],
        log="pins.log",
        # Quiet about an environment that is not the one at work.
        environment={**os.environ, "VIRTUAL_ENV": str(folder)},
    )
    DEPLOYED.write_text(f"{HEADER}\n{DEPLOYED.read_text()}")


def _index() -> list[str]:
    """Return the registry that pip is told to use here, where it is told of one."""
    asked = output_of([sys.executable, "-m", "pip", "config", "get", "global.index-url"])
    if asked is None or asked.status:
        return []
    return ["--default-index", asked.text.strip().splitlines()[-1]]
