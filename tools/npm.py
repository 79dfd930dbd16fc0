"""Node.js, and the packages that two locks name: firebase-tools and its like, and the pages'."""

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
    """The packages of the lock in a folder; `size` is of the download, and on disk."""

    folder: Path
    title: str
    log: str
    size: str

    @property
    def place(self) -> Path:
        """The folder that npm installs into."""
        return self.folder / "node_modules"

    def stamp(self) -> str:
        """Return a text that changes with the lock."""
        return digest(*(read(self.folder / name) for name in ("package.json", "package-lock.json")))

    def is_current(self) -> bool:
        """Tell whether the packages of the lock are installed."""
        return read(self.place / ".installed") == self.stamp()

    def install(self) -> None:
        """Install the packages of the lock, from npm's cache where it has them.

        Raises:
            SetupError: npm failed.
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
    """Make sure that Node.js is there, and new enough.

    Raises:
        SetupError: It is not.
    """
    for program in ("node", "npm"):
        if shutil.which(program) is None:
            raise SetupError(
                f"`{program}` is not on PATH. Install Node.js {MIN_NODE} or newer (with npm),\n"
                "for example from nodejs.org; firebase-tools runs on it.",
            )
    _, text = output_of(["node", "--version"])
    found = re.match(r"v(\d+)\.", text)
    if found is None or int(found[1]) < MIN_NODE:
        raise SetupError(
            f"Node.js {MIN_NODE} or newer is needed, and `node` on PATH is {text or 'broken'}.\n"
            "Install a newer one, for example from nodejs.org.",
        )


def link() -> None:
    """Let scripts anywhere in the checkout import the packages: Node looks in parent folders.

    The Firebase SDK is the console's.
    """
    for link, target in (
        (ROOT / "node_modules", NODE_MODULES.relative_to(ROOT)),
        (NODE_MODULES / "firebase", CONSOLE_PACKAGES.place / "firebase"),
    ):
        with contextlib.suppress(FileExistsError):
            link.symlink_to(target)
