"""Paths in the checkout."""

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Logs, locks and other files that may be deleted at any time.
STATE = ROOT / ".emulator"
# firebase-tools requires this name.
VENV = ROOT / "venv"
VENV_PYTHON = VENV / "bin" / "python"
# Not the root: firebase-tools treats a source folder with a package.json as Node.js code.
NODE_HOME = ROOT / "emulator"
NODE_MODULES = NODE_HOME / "node_modules"
# A separate package, so that Hosting's deploy installs only the pages' packages.
CONSOLE = ROOT / "console"
# The local pages. A deploy builds its own pages into public/.
PAGES = STATE / "public"
