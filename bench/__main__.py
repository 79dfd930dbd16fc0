"""`python3 -m emulator bench [NAME …]`: what the service costs, measured on this machine.

Each experiment is a module with a `main`. It prints its figure, the reference that was measured in
the same run, and the ratio. A figure that does not depend on the machine is also held by a test.
"""

import argparse
import importlib
import time

from emulator.command_list import BENCHES


def main() -> None:
    """Run the experiments that are named, or all."""
    parser = argparse.ArgumentParser(prog="python3 -m emulator bench", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(BENCHES))
    names = parser.parse_args().names or BENCHES
    unknown = sorted(set(names) - set(BENCHES))
    if unknown:
        parser.error(f"no experiment is called {unknown[0]}; there are {', '.join(BENCHES)}")
    for name in names:
        experiment = importlib.import_module(f"bench.{name.replace('-', '_')}")
        headline = (experiment.__doc__ or "").partition("\n")[0]
        print(f"\n== {name}: {headline}", flush=True)
        began = time.monotonic()
        experiment.main()
        print(f"   ({time.monotonic() - began:.0f} s)", flush=True)


if __name__ == "__main__":
    main()
