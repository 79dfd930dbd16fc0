"""The installation of all packages, and the environment in which programs find them."""

import os
from collections.abc import Mapping

from tools import local_secrets, npm, pages, python
from tools.java import java_folder
from tools.paths import NODE_MODULES, VENV, VENV_PYTHON
from tools.steps import install_lock, say

_DOWNLOADS = (
    (VENV_PYTHON, "Python packages into ./venv", python.SIZE),
    (npm.PACKAGES.place, "Node packages into ./emulator/node_modules", npm.PACKAGES.size),
    (
        npm.CONSOLE_PACKAGES.place,
        "the console's packages into ./console/node_modules",
        npm.CONSOLE_PACKAGES.size,
    ),
)


def prepare() -> bool:
    """Install missing packages, and build the pages if their sources have changed.

    Returns:
        True if packages were installed, so that a running interpreter may have stale modules.

    Raises:
        SetupError: A prerequisite is missing, or an installation failed.
    """
    npm.check_node()
    changed = False
    missing = [f"{what} ({size})" for place, what, size in _DOWNLOADS if not place.exists()]
    if missing:
        say(f"The first run downloads into this folder: {', '.join(missing)}.")
    for is_current, install in (
        (python.is_current, python.install),
        (npm.PACKAGES.is_current, npm.PACKAGES.install),
        (npm.CONSOLE_PACKAGES.is_current, npm.CONSOLE_PACKAGES.install),
        (pages.is_current, pages.install),
    ):
        if is_current():
            continue
        with install_lock():
            # Check again: another run may have installed it during the wait.
            if not is_current():
                install()
            changed = changed or install is not pages.install
    npm.link()
    local_secrets.write()
    return changed


def tool_environment(base: Mapping[str, str]) -> dict[str, str]:
    """Return `base` with the installed tools first on PATH, and a Java that is new enough.

    Raises:
        SetupError: No Java is available.
    """
    environment = dict(base)
    folders = [VENV / "bin", NODE_MODULES / ".bin", java_folder()]
    path = [*(str(folder) for folder in folders if folder), base.get("PATH", os.defpath)]
    environment["PATH"] = os.pathsep.join(path)
    environment["VIRTUAL_ENV"] = str(VENV)
    environment.pop("PYTHONHOME", None)
    return environment
