"""Node.js and its packages: those of the emulators, such as firebase-tools, and the console's."""

import contextlib
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from tools.paths import CONSOLE, NODE_HOME, NODE_MODULES, ROOT
from tools.steps import SetupError, digest, output_of, read, run_step

MIN_NODE = 20


@dataclass(frozen=True)
class Packages:
    """The packages of a folder's lock file. `size` is the size of the download and on disk."""

    folder: Path
    title: str
    log: str
    size: str

    @property
    def place(self) -> Path:
        """The folder that npm installs into."""
        return self.folder / "node_modules"

    def stamp(self) -> str:
        """Return a text that changes with the lock file."""
        return digest(*(read(self.folder / name) for name in ("package.json", "package-lock.json")))

    def is_current(self) -> bool:
        """Return whether the packages of the lock file are installed."""
        return read(self.place / ".installed") == self.stamp()

    def install(self) -> None:
        """Install the packages of the lock file, from npm's cache if possible.

        Raises:
            SetupError: The npm command failed.
        """
        stamp = self.stamp()
        command = ["npm", "ci", "--prefer-offline"]
        run_step(f"Installing {self.title}", command, log=self.log, folder=self.folder)
        (self.place / ".installed").write_text(stamp)


PACKAGES = Packages(NODE_HOME, "Node packages", "npm.log", "145 MB, 320 MB on disk")
CONSOLE_PACKAGES = Packages(
    CONSOLE, "the console's packages", "npm-console.log", "40 MB, 220 MB on disk"
)


def check_node() -> None:
    """Check that Node.js is installed and new enough.

    Raises:
        SetupError: Node.js is missing or too old.
    """
    for program in ("node", "npm"):
        if shutil.which(program) is None:
            raise SetupError(
                f"`{program}` is not on PATH. Install Node.js {MIN_NODE} or newer with npm, for\n"
                "example from nodejs.org. firebase-tools needs it.",
            )
    _, text = output_of(["node", "--version"])
    found = re.match(r"v(\d+)\.", text)
    if found is None or int(found[1]) < MIN_NODE:
        raise SetupError(
            f"Node.js {MIN_NODE} or newer is needed, and `node` on PATH is {text or 'broken'}.\n"
            "Install a newer one, for example from nodejs.org.",
        )


def link() -> None:
    """Link the packages, so that scripts anywhere in the checkout can import them.

    Node searches parent folders for packages. The Firebase SDK belongs to the console's packages.
    """
    for link, target in (
        (ROOT / "node_modules", NODE_MODULES.relative_to(ROOT)),
        (NODE_MODULES / "firebase", CONSOLE_PACKAGES.place / "firebase"),
    ):
        with contextlib.suppress(FileExistsError):
            link.symlink_to(target)
