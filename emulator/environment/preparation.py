"""Everything that is installed, in its order, and how programs find it."""

import os
from collections.abc import Mapping

from emulator.environment import console, java, local_secrets, node, python
from emulator.environment.places import NODE_MODULES, VENV, VENV_PYTHON
from emulator.environment.steps import only_one, say

_INSTALLERS = (python, node, console)


def prepare() -> bool:
    """Install missing packages, and build the pages if their sources have changed.

    Returns:
        True when something was installed, so that a running interpreter may be out of date.

    Raises:
        SetupError: A prerequisite is missing, or an installation failed.
    """
    node.check()
    changed = False
    if not all(module.is_current() for module in _INSTALLERS):
        with only_one():
            # Looked at again: while waiting, another run may have done the work.
            lacking = [module for module in _INSTALLERS if not module.is_current()]
            if lacking:
                _announce()
            for module in lacking:
                module.install()
                changed = True
    if not console.is_built():
        with only_one():
            if not console.is_built():
                console.build()
    node.link()
    local_secrets.write()
    return changed


def _announce() -> None:
    """Announce the downloads of a first run, with their sizes."""
    missing = []
    if not VENV_PYTHON.exists():
        missing.append(f"Python packages into ./venv ({python.SIZE})")
    if not NODE_MODULES.exists():
        missing.append(f"Node packages into ./emulator/node_modules ({node.SIZE})")
    if not console.PACKAGES.modules.exists():
        missing.append(f"the console's into ./console/node_modules ({console.SIZE})")
    if missing:
        say(f"Everything stays in this folder. To be downloaded: {', '.join(missing)}.")


def tool_environment(base: Mapping[str, str]) -> dict[str, str]:
    """Return `base` with the installed tools first on PATH and a Java that is new enough.

    Raises:
        SetupError: No Java is to be had.
    """
    environment = dict(base)
    folders = [str(VENV / "bin"), str(NODE_MODULES / ".bin")]
    if java_folder := java.folder():
        folders.append(str(java_folder))
    environment["PATH"] = os.pathsep.join([*folders, base.get("PATH", os.defpath)])
    environment["VIRTUAL_ENV"] = str(VENV)
    environment.pop("PYTHONHOME", None)
    return environment
