"""`python3 -m emulator bench [NAME …]`: what the service costs, measured on this machine.

Each experiment is a module with a `main`. It prints its figure, the reference that was measured in
the same run, and the ratio. Whatever does not depend on the machine is held by a test as well.
"""

import argparse
import importlib
import time
from typing import Final

EXPERIMENTS: Final = (
    "operations",
    "delivery",
    "trigger",
    "cold-start",
    "recap",
    "mail-events",
    "growth",
    "load",
    "neighbours",
    "scale",
)


def main() -> None:
    """Run the experiments that are named, or all."""
    parser = argparse.ArgumentParser(prog="python3 -m emulator bench", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(EXPERIMENTS))
    names = parser.parse_args().names or EXPERIMENTS
    unknown = sorted(set(names) - set(EXPERIMENTS))
    if unknown:
        parser.error(f"no experiment is called {unknown[0]}; there are {', '.join(EXPERIMENTS)}")
    for name in names:
        experiment = importlib.import_module(f"tests.bench.{name.replace('-', '_')}")
        headline = (experiment.__doc__ or "").partition("\n")[0]
        print(f"\n== {name}: {headline}", flush=True)
        began = time.monotonic()
        experiment.main()
        print(f"   ({time.monotonic() - began:.0f} s)", flush=True)


if __name__ == "__main__":
    main()
