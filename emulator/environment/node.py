"""Node.js and its packages: firebase-tools, libraries of receivers, the browser's driver."""

import contextlib
import re
import shutil

from emulator.environment.npm import Packages
from emulator.environment.places import CONSOLE, NODE_HOME, NODE_MODULES, ROOT
from emulator.environment.steps import SetupError, output_of

MIN_NODE = 20
# What `npm ci` fetches into an empty cache, and what it takes on disk.
SIZE = "145 MB, 320 MB on disk"

_PACKAGES = Packages(NODE_HOME, "Node packages", "npm.log")
is_current, install = _PACKAGES.is_current, _PACKAGES.install


def check() -> None:
    """Make sure that Node.js is there, and new enough.

    Raises:
        SetupError: It is not.
    """
    for program in ("node", "npm"):
        if shutil.which(program) is None:
            raise SetupError(
                f"`{program}` is not on PATH. Install Node.js {MIN_NODE} or newer (with npm),\n"
                "for example from nodejs.org; firebase-tools runs on it.",
            )
    probe = output_of(["node", "--version"])
    text = probe.text.strip() if probe else ""
    found = re.match(r"v(\d+)\.", text)
    if found is None or int(found[1]) < MIN_NODE:
        raise SetupError(
            f"Node.js {MIN_NODE} or newer is needed, and `node` on PATH is {text or 'broken'}.\n"
            "Install a newer one, for example from nodejs.org.",
        )


def link() -> None:
    """Let scripts anywhere in the checkout import the packages: Node looks in parent folders.

    The Firebase SDK is the console's.
    """
    with contextlib.suppress(FileExistsError):
        (ROOT / "node_modules").symlink_to(NODE_MODULES.relative_to(ROOT))
    with contextlib.suppress(FileExistsError):
        (NODE_MODULES / "firebase").symlink_to(CONSOLE / "node_modules" / "firebase")
