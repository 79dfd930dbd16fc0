"""Operators' scripts, run against the emulators."""

import subprocess
from typing import Any

from ops.cloud import Outside


def outside(address: str, **how: Any) -> Outside:
    """What a script reaches: the emulator at `address`, with the token of its administrator."""

    def gcloud(command: Any, **_: Any) -> "subprocess.CompletedProcess[str]":
        return subprocess.CompletedProcess(command, 0, stdout="owner\n")

    return Outside(run=gcloud, address=address, **how)
