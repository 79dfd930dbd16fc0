"""Starts a script: `ops/run setup …`, which each script of this folder calls."""

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
module, _, function = _SCRIPTS[sys.argv.pop(1)].partition(".")
sys.exit(getattr(import_module(f"ops.{module}"), function)())
