"""`python3 -m emulator pins`: requirements.txt, made of requirements.in.

Complete, pinned, and with the hashes of every file of each release, so that the same file installs
on each Python and system that we support, and nothing else ever does.
"""

from collections.abc import Sequence

from emulator import pythons
from emulator.environment import ROOT, python
from emulator.environment.steps import run_step

SOURCE = ROOT / "requirements.in"
HEADER = f"""\
# What `firebase deploy` installs. Made of {SOURCE.name}, which has the reasons:
#   python3 -m emulator pins              after a change there
#   python3 -m emulator pins --upgrade    and for newer versions of the rest
"""


def renew(arguments: Sequence[str]) -> None:
    """Write requirements.txt anew; a present pin stays unless it has to change.

    Args:
        arguments: Passed on to `uv pip compile`.

    Raises:
        SetupError: A requirement cannot be met, or the registry not be reached.
    """
    oldest = "{}.{}".format(*min(pythons.SUPPORTED))
    run_step(
        "Resolving",
        [
            *(*python.uv(), "compile", SOURCE.name, "--output-file", python.DEPLOYED.name),
            *("--universal", "--python-version", oldest, "--generate-hashes"),
            *("--annotation-style", "line", "--no-header", *python.registry(), *arguments),
        ],
        log="pins.log",
    )
    python.DEPLOYED.write_text(f"{HEADER}\n{python.DEPLOYED.read_text()}")
