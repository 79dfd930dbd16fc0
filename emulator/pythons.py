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
    """Return a sentence on which versions do, and where they come from."""
    versions = "{}.{} to {}.{}".format(*min(SUPPORTED), *max(SUPPORTED))
    return f"Python {versions} is needed: your system, python.org, pyenv and uv have one."
