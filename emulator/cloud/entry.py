"""`main.py` for processes on this machine, where receivers of webhooks may be on it as well.

The environment of these processes is Google's, and no variable of that environment may open the
service to loopback or to other certificate authorities. So these settings are handed in by code,
and no deploy uploads this file.
"""

import dataclasses
import os
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from functions import local_suite, parameters  # noqa: E402 - found from the root on

HANDED_IN = ("WEBHOOK_CA_BUNDLE", "WEBHOOK_ALLOW_LOOPBACK", "MAILBOX_KEY")

local_suite.set_overrides({name: os.environ[name] for name in HANDED_IN if name in os.environ})

# Benches try other values of a constant.
if pace := os.environ.get("EVENT_DELIVERIES_A_SECOND"):
    given = dataclasses.replace(parameters.from_deploy(), event_deliveries_a_second=int(pace))
    parameters.from_deploy = lambda: given

from main import *  # noqa: E402, F403
