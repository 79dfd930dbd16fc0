"""The pages: the console's packages, and its build into public/."""

from emulator.environment.npm import Packages
from emulator.environment.places import CONSOLE, ROOT, STATE, VENV_PYTHON
from emulator.environment.steps import digest, read, run_step

# What `npm ci` fetches into an empty cache, beside what the emulators bring; on disk.
SIZE = "40 MB, 220 MB on disk"

PACKAGES = Packages(CONSOLE, "the console's packages", "npm-console.log")
is_current, install = PACKAGES.is_current, PACKAGES.install
_BUILT = STATE / "console.built"
_PAGES = ROOT / "public"
# What a build is made of, and which files it cannot lack.
_SOURCES = ("src", "pages")
_CATALOGUE = (
    *("emulator/catalogue.py", "emulator/catalogue.html", "docs/openapi.yaml"),
    *("docs/receiving.md", "functions/webhooks/deliveries/retry_schedule.py"),
)
_TEXTS = ROOT / "functions" / "mail" / "catalogues"
_OUTPUT = (
    *("console.html", "deliveries.html", "preferences.de.json"),
    *("events.html", "events.js", "openapi.json"),
)


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
    return digest(PACKAGES.stamp(), *(f"{path.relative_to(ROOT)}\n{read(path)}" for path in found))
