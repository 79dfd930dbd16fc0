"""Where everything of the checkout lies."""

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Logs, locks and everything else that may be deleted at any time.
STATE = ROOT / ".emulator"
# firebase-tools looks for the functions' environment at this name only.
VENV = ROOT / "venv"
VENV_PYTHON = VENV / "bin" / "python"
# Not at the root: firebase-tools takes a source folder with a package.json for Node.js code.
NODE_HOME = ROOT / "emulator"
NODE_MODULES = NODE_HOME / "node_modules"
# Of the pages: a package of its own, so that Hosting's deploy installs nothing else.
CONSOLE = ROOT / "console"
# The pages that the local suite serves; a deploy builds its own into public/.
PAGES = STATE / "public"
