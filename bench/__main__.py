"""`python3 -m emulator bench [NAME …]`: what the service costs, measured on this machine.

Each experiment is a module whose `rows` are figures, each with the reference that was measured in
the same run. All of them make one table.
"""

import argparse
import importlib
import sys

from bench.figures import Row
from tools.command_list import BENCHES

_HEADINGS = Row("what", "figure", "aim", "reference")


def main() -> None:
    """Run the experiments that are named, or all."""
    parser = argparse.ArgumentParser(prog="python3 -m emulator bench", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(BENCHES))
    names = parser.parse_args().names or BENCHES
    unknown = sorted(set(names) - set(BENCHES))
    if unknown:
        parser.error(f"no experiment is called {unknown[0]}; there are {', '.join(BENCHES)}")
    rows = [_HEADINGS]
    for name in names:
        experiment = importlib.import_module(f"bench.{name.replace('-', '_')}")
        headline = (experiment.__doc__ or "").partition("\n")[0]
        print(f"{name}: {headline}", file=sys.stderr, flush=True)
        rows += experiment.rows()
    cells = [(row.what, row.figure, row.aim, row.reference) for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for line in cells:
        print("  ".join(map(str.ljust, line, widths)).rstrip())


if __name__ == "__main__":
    main()
