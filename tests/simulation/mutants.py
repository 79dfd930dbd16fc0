"""`python -m tests.simulation.mutants [NAME …]`: counts the schedules that catch each mutant.

The mutants of each world are defined in its folder.
"""

import argparse
import re
import sys
from typing import Final

from tests.simulation.endpoints import mutants as endpoints
from tests.simulation.mutant import LIMIT, schedules_to_catch
from tests.simulation.recap import mutants as recap
from tests.simulation.webhooks import mutants as webhooks

MUTANTS: Final = [
    (world, mutant)
    for world, module in (("webhooks", webhooks), ("recap", recap), ("endpoints", endpoints))
    for mutant in module.MUTANTS
]

RARE: Final = {"counted-again": 6001}
"""First schedule for each rare mutant, which only `--all` tests."""

_ID: Final = re.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def main() -> int:
    """Test the mutants and print the table. Return 1 if a mutant was not caught."""
    parser = argparse.ArgumentParser(prog="python -m tests.simulation.mutants", description=__doc__)
    names = ", ".join(mutant.name for _, mutant in MUTANTS)
    parser.add_argument("names", nargs="*", metavar="NAME", help=names)
    wanted = parser.parse_args().names
    missed = 0
    print("| world | mutant | left out | schedules | seen first |\n|---|---|---|---|---|")
    for world, mutant in MUTANTS:
        if wanted and mutant.name not in wanted:
            continue
        caught = schedules_to_catch(world, mutant)
        missed += caught is None
        schedules, seen = caught or (f"over {LIMIT:,}", "nothing")
        seen = _ID.sub("…", seen)
        row = (world, mutant.name, mutant.left_out, schedules, seen)
        print(f"| {' | '.join(map(str, row))} |", flush=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
