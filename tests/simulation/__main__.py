"""`python -m tests.simulation [WORLD …]`: runs any number of schedules."""

import argparse
import sys

from tests.simulation.explore import timed
from tests.simulation.worlds import WORLDS


def main() -> int:
    """Run the schedules. Return 1 after a violation."""
    parser = argparse.ArgumentParser(prog="python -m tests.simulation", description=__doc__)
    parser.add_argument("worlds", nargs="*", metavar="WORLD", help=", ".join(WORLDS))
    parser.add_argument("--schedules", type=int, default=2000, help="how many, of each world")
    parser.add_argument("--seed", type=int, default=1, help="of the first schedule")
    given = parser.parse_args()
    unknown = sorted(set(given.worlds) - set(WORLDS))
    if unknown:
        parser.error(f"no world is called {unknown[0]}; there are {', '.join(WORLDS)}")
    seeds = range(given.seed, given.seed + given.schedules)
    right = [timed(name, WORLDS[name], seeds) for name in given.worlds or WORLDS]
    return 0 if all(right) else 1


if __name__ == "__main__":
    sys.exit(main())
