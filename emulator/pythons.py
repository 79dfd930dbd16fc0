"""The supported versions of Python, and their interpreters on this machine.

An old Python may read this module first, so the module uses nothing that is new.
"""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

# The deployed runtime's first, then the newest.
SUPPORTED = ((3, 13), (3, 14), (3, 12), (3, 11))
# Debian ships the two modules apart from the interpreter.
_PROBE = "import sys; print(*sys.version_info[:2]); import venv, ensurepip"
_OS_RELEASE = Path("/etc/os-release")


class Interpreter(NamedTuple):
    """A Python that runs.

    Attributes:
        path: Its binary.
        version: Major and minor.
        makes_environments: Whether its venv module is there.
    """

    path: Path
    version: "tuple[int, int]"
    makes_environments: bool

    @property
    def name(self) -> str:
        """Return the version as people write it."""
        return "{}.{}".format(*self.version)


def on_path(but: "Path | None" = None) -> "Iterator[Interpreter]":
    """Find one supported Python of each version on PATH that really runs.

    Args:
        but: A folder that does not count.
    """
    folders = [Path(folder) for folder in os.get_exec_path()]
    for version in SUPPORTED:
        name = "python{}.{}".format(*version)
        for folder in folders:
            found = shutil.which(name, path=str(folder)) if folder != but else None
            # A version manager's stand-in may be there without the version.
            probed = probe(Path(found)) if found else None
            if probed and probed.version == version:
                yield probed
                break


def probe(path: Path) -> "Interpreter | None":
    """Ask a Python what it is; None where it does not run."""
    try:
        done = subprocess.run(
            [str(path), "-c", _PROBE],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            check=False,
        )
        major, minor = map(int, done.stdout.split())
    except (OSError, ValueError):
        return None
    return Interpreter(path, (major, minor), done.returncode == 0)


def how_to_get_one() -> str:
    """Return a sentence on which versions do and how this system gets one."""
    return f"Python {_span()} is needed: {_ways()}."


def _span() -> str:
    oldest, newest = min(SUPPORTED), max(SUPPORTED)
    return "{}.{} to {}.{}".format(*oldest, *newest)


def _ways() -> str:
    newest = "{}.{}".format(*SUPPORTED[0])
    elsewhere = "python.org, pyenv and uv have one"
    if os.uname().sysname == "Darwin":
        return f"`brew install python@{newest}`, or {elsewhere}"
    try:
        lines = _OS_RELEASE.read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    fields = dict(line.replace('"', "").partition("=")[::2] for line in lines)
    families = {fields.get("ID", ""), *fields.get("ID_LIKE", "").split()}
    if families & {"debian", "ubuntu"}:
        return f"`apt install python3 python3-venv`; where that is an older one, {elsewhere}"
    if families & {"fedora", "rhel"}:
        return f"`dnf install python{newest}`, or {elsewhere}"
    return elsewhere
