"""`main.py` for local function processes, which may post to receivers on this machine.

In production, no environment variable may allow loopback addresses or other certificate
authorities. Therefore this file sets these options in code, and no deploy uploads it.
"""

import dataclasses
import os
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from functions import local_suite, parameters  # noqa: E402 - found from the root on

local_suite.set_overrides(os.environ)

# Benches measure other values of this constant.
if rate := os.environ.get("EVENT_DELIVERIES_A_SECOND"):
    changed = dataclasses.replace(parameters.from_deploy(), event_deliveries_a_second=int(rate))
    parameters.from_deploy = lambda: changed

from main import *  # noqa: E402, F403
