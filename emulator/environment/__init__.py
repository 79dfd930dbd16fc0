"""The local environment: everything that is installed inside the checkout, and its prerequisites.

One module an installer. Standard library only: this runs before anything is installed.
"""

from emulator.environment import local_secrets
from emulator.environment.firestore_emulator import cached_firestore_jar, firestore_jar
from emulator.environment.places import (
    CONSOLE,
    NODE_MODULES,
    PAGES,
    ROOT,
    STATE,
    VENV,
    VENV_PYTHON,
)
from emulator.environment.preparation import prepare, tool_environment
from emulator.environment.steps import SetupError, log_tail, say

__all__ = [
    "CONSOLE",
    "NODE_MODULES",
    "PAGES",
    "ROOT",
    "STATE",
    "VENV",
    "VENV_PYTHON",
    "SetupError",
    "cached_firestore_jar",
    "firestore_jar",
    "local_secrets",
    "log_tail",
    "prepare",
    "say",
    "tool_environment",
]
