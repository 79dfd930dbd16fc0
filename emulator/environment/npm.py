"""Packages of npm, as a lock names them."""

from dataclasses import dataclass
from pathlib import Path

from emulator.environment.steps import digest, read, run_step


@dataclass(frozen=True, slots=True)
class Packages:
    """The packages of the lock in a folder."""

    folder: Path
    title: str
    log: str

    @property
    def modules(self) -> Path:
        """The folder that npm installs into."""
        return self.folder / "node_modules"

    def stamp(self) -> str:
        """Return a text that changes with the lock."""
        return digest(*(read(self.folder / name) for name in ("package.json", "package-lock.json")))

    def is_current(self) -> bool:
        """Tell whether the packages of the lock are installed."""
        return read(self.modules / ".installed") == self.stamp()

    def install(self) -> None:
        """Install the packages of the lock, from npm's cache where it has them.

        Raises:
            SetupError: npm failed.
        """
        stamp = self.stamp()
        command = ["npm", "ci", "--prefer-offline"]
        run_step(f"Installing {self.title}", command, log=self.log, folder=self.folder)
        (self.modules / ".installed").write_text(stamp)
