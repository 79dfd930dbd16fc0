"""Entry point of every script in this folder: `ops/run setup …`."""

import sys
from importlib import import_module
from pathlib import Path
from typing import Final

_SCRIPTS: Final = {
    "adopt": "adopting.main",
    "apply": "applying.main",
    "brake": "braking.main",
    "check": "setting_up.check",
    "deploy": "setting_up.deploy",
    "guest": "guest_data.main",
    "ready": "ready.main",
    "setup": "setting_up.main",
    "staff": "staff.main",
}

sys.path[0] = str(Path(__file__).resolve().parent.parent)

from tools import npm, python  # noqa: E402 - behind the path

script = sys.argv.pop(1)
# Packages may be older than the checkout. An older firebase deploys without `.env`.
if script != "ready" and not (python.is_current() and npm.PACKAGES.is_current()):
    sys.exit("Install first: python3 -m emulator setup")
module, _, function = _SCRIPTS[script].partition(".")
sys.exit(getattr(import_module(f"ops.{module}"), function)())
