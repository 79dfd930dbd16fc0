"""`python3 -m emulator bench [NAME …]`: measures the service's costs on this machine.

Each benchmark is a module with a function `rows`. A row has a figure, and a reference that was
measured in the same run. The command prints all rows as one table.
"""

import argparse
import importlib
import sys

from bench.figures import Row
from tools.command_list import BENCHES

_HEADINGS = Row("measurement", "figure", "aim", "reference")


def main() -> None:
    """Run the named benchmarks, or all."""
    parser = argparse.ArgumentParser(prog="python3 -m emulator bench", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(BENCHES))
    names = parser.parse_args().names or BENCHES
    unknown = sorted(set(names) - set(BENCHES))
    if unknown:
        parser.error(f"unknown benchmark {unknown[0]}. Choose from {', '.join(BENCHES)}")
    rows = [_HEADINGS]
    for name in names:
        benchmark = importlib.import_module(f"bench.{name.replace('-', '_')}")
        headline = (benchmark.__doc__ or "").partition("\n")[0]
        print(f"{name}: {headline}", file=sys.stderr, flush=True)
        rows += benchmark.rows()
    cells = [(row.name, row.figure, row.aim, row.reference) for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for line in cells:
        print("  ".join(map(str.ljust, line, widths)).rstrip())


if __name__ == "__main__":
    main()
