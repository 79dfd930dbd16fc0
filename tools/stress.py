"""Repeats checks on a busy machine to find tests that depend on its speed.

`python3 -m tools.stress 10 12 unit` runs the check `unit` ten times next to twelve busy processes.
"""

import argparse
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from tools.paths import ROOT
from tools.steps import say

_BUSY_SECONDS = 3600
_BUSY = f"import time; end = time.monotonic() + {_BUSY_SECONDS}\nwhile time.monotonic() < end: pass"


@contextmanager
def busy(count: int) -> Iterator[None]:
    """Keep `count` processes busy, for an hour at most."""
    processes = [subprocess.Popen([sys.executable, "-c", _BUSY]) for _ in range(count)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
        for process in processes:
            process.wait()


def run(count: int, checks: Sequence[str]) -> int:
    """Run the checks `count` times and return the number of failed runs."""
    failures = 0
    for number in range(1, count + 1):
        started = time.monotonic()
        command = [sys.executable, "-m", "emulator", "test", *checks]
        status = subprocess.run(command, cwd=ROOT, check=False).returncode
        failures += status != 0
        seconds = time.monotonic() - started
        outcome = "passed" if status == 0 else f"FAILED ({status})"
        say(f"Run {number} of {count}: {outcome}, {seconds:.0f} s")
    return failures


def main() -> int:
    """Run the command line and return its exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("count", type=int, help="number of runs")
    parser.add_argument("busy", type=int, help="number of busy processes")
    parser.add_argument("checks", nargs="*", help="names of checks (default: all)")
    parsed = parser.parse_args()
    with busy(parsed.busy):
        return int(run(parsed.count, parsed.checks) > 0)


if __name__ == "__main__":
    sys.exit(main())
