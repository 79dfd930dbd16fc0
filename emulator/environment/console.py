"""The pages: the console's packages, and what is built into public/."""

from __future__ import annotations

from emulator.environment.places import CONSOLE, ROOT, STATE, VENV_PYTHON
from emulator.environment.steps import digest, read, run_step

# What `npm ci` fetches into an empty cache, beside what the emulators bring; on disk.
SIZE = "40 MB, 220 MB on disk"

MODULES = CONSOLE / "node_modules"
_BUILT = STATE / "console.built"
_PAGES = ROOT / "public"
# What a build is made of, and which files it cannot lack.
_SOURCES = ("src", "pages")
_CATALOGUE = (
    *("emulator/catalogue.py", "emulator/catalogue.html", "docs/openapi.yaml"),
    *("docs/receiving.md", "functions/webhooks/deliveries/retry_schedule.py"),
)
_TEXTS = ROOT / "functions" / "mail" / "catalogues"
_OUTPUT = ("console.html", "deliveries.html", "preferences.de.json", "events.html", "openapi.json")


def is_current() -> bool:
    """Tell whether the packages of the lock are installed."""
    return read(MODULES / ".installed") == _stamp()


def install() -> None:
    """Install the packages of the lock.

    Raises:
        SetupError: npm failed.
    """
    stamp = _stamp()
    run_step(
        "Installing the console's packages",
        ["npm", "ci", "--prefer-offline"],
        log="npm-console.log",
        folder=CONSOLE,
    )
    (MODULES / ".installed").write_text(stamp)


def is_built() -> bool:
    """Tell whether public/ has what the sources say."""
    return read(_BUILT) == sources() and all((_PAGES / name).is_file() for name in _OUTPUT)


def build() -> None:
    """Build the pages; no network is needed.

    Raises:
        SetupError: The sources cannot be built.
    """
    stamp = sources()
    run_step("Building the console", ["node", "build.mjs"], log="console.log", folder=CONSOLE)
    catalogue = [str(VENV_PYTHON), "-m", "emulator.catalogue"]
    run_step("Building the catalogue of event types", catalogue, log="catalogue.log")
    _BUILT.write_text(stamp)


def sources() -> str:
    """Return a text that differs where any source does: the time of a file says nothing in git."""
    found = [CONSOLE / "build.mjs", ROOT / "firebase.json", ROOT / ".env", ROOT / ".env.demo-wall"]
    found += [*sorted(_TEXTS.iterdir()), _PAGES / "preferences.html", _PAGES / "preferences.js"]
    found += [ROOT / name for name in _CATALOGUE]
    for folder in _SOURCES:
        found += sorted(path for path in (CONSOLE / folder).rglob("*") if path.is_file())
    return digest(_stamp(), *(f"{path.relative_to(ROOT)}\n{read(path)}" for path in found))


def _stamp() -> str:
    return digest(read(CONSOLE / "package.json"), read(CONSOLE / "package-lock.json"))
