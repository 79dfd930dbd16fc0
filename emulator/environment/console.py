"""The pages: the console's packages, and their build for the local suite."""

from emulator.environment.npm import Packages
from emulator.environment.places import CONSOLE, PAGES, ROOT, STATE, VENV_PYTHON
from emulator.environment.steps import digest, read, run_step

# What `npm ci` fetches into an empty cache, beside what the emulators bring; on disk.
SIZE = "40 MB, 220 MB on disk"

PACKAGES = Packages(CONSOLE, "the console's packages", "npm-console.log")
is_current, install = PACKAGES.is_current, PACKAGES.install
_BUILT = STATE / "console.built"
# What else a build is made of.
_CATALOGUE = (
    *("emulator/catalogue.py", "emulator/catalogue.html", "docs/openapi.yaml"),
    *("docs/receiving.md", "functions/webhooks/deliveries/retry_schedule.py"),
)
_TEXTS = ROOT / "functions" / "mail" / "catalogues"
# The files that a build cannot lack.
_OUTPUT = (
    *("console.html", "deliveries.html", "mail.html", "preferences.de.json"),
    *("colours.css", "mail_frame.js", "events.html", "events.js", "openapi.json"),
)


def is_built() -> bool:
    """Tell whether the local suite's pages are what the sources say."""
    return read(_BUILT) == sources() and all((PAGES / name).is_file() for name in _OUTPUT)


def build() -> None:
    """Build the pages; no network is needed.

    Raises:
        SetupError: The sources cannot be built.
    """
    stamp = sources()
    pages = ["node", "build.mjs", "--site", str(PAGES)]
    run_step("Building the console", pages, log="console.log", folder=CONSOLE)
    catalogue = [str(VENV_PYTHON), "-m", "emulator.catalogue", str(PAGES)]
    run_step("Building the catalogue of event types", catalogue, log="catalogue.log")
    _BUILT.write_text(stamp)


def sources() -> str:
    """Return a text that differs where any source does: the time of a file says nothing in git."""
    found = [CONSOLE / "build.mjs", ROOT / "firebase.json", ROOT / ".env", ROOT / ".env.demo-wall"]
    found += [ROOT / name for name in _CATALOGUE]
    for folder in (CONSOLE / "src", CONSOLE / "pages", ROOT / "public", _TEXTS):
        found += sorted(path for path in folder.rglob("*") if path.is_file())
    return digest(PACKAGES.stamp(), *(f"{path.relative_to(ROOT)}\n{read(path)}" for path in found))
