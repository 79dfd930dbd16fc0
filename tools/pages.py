"""The build of the local pages: the console, and the catalog of event types."""

import shutil

from tools.npm import CONSOLE_PACKAGES
from tools.paths import CONSOLE, PAGES, ROOT, STATE, VENV_PYTHON
from tools.steps import digest, read, run_step

_BUILT = STATE / "console.built"
# Sources of the build that are not in the folders of `sources`.
_FILES = (
    *("console/build.mjs", "firebase.json", ".env", ".env.demo-wall"),
    *("tools/event_catalog.py", "tools/event_catalog.html", "docs/openapi.yaml"),
    *("docs/receiving.md", "functions/webhooks/deliveries/queues.py"),
)
_TEXTS = ROOT / "functions" / "mail" / "catalogues"
# Files that every build has.
_OUTPUT = (
    *("console.html", "deliveries.html", "mail.html", "preferences.de.json"),
    *("colours.css", "mail_frame.js", "events.html", "events.js", "openapi.json"),
)


def is_current() -> bool:
    """Return whether the built pages match their sources."""
    return read(_BUILT) == sources() and all((PAGES / name).is_file() for name in _OUTPUT)


def install() -> None:
    """Build the pages without using the network.

    Raises:
        SetupError: The build failed.
    """
    stamp = sources()
    shutil.rmtree(PAGES, ignore_errors=True)  # removes pages without sources
    pages = ["node", "build.mjs", "--site", str(PAGES)]
    run_step("Building the console", pages, log="console.log", folder=CONSOLE)
    catalog = [str(VENV_PYTHON), "-m", "tools.event_catalog", str(PAGES)]
    run_step("Building the catalog of event types", catalog, log="catalog.log")
    _BUILT.write_text(stamp)


def sources() -> str:
    """Return a digest of all sources. Git does not keep the files' times."""
    found = [ROOT / name for name in _FILES]
    for folder in (CONSOLE / "src", CONSOLE / "pages", ROOT / "public", _TEXTS):
        found += sorted(path for path in folder.rglob("*") if path.is_file())
    texts = (f"{path.relative_to(ROOT)}\n{read(path)}" for path in found)
    return digest(CONSOLE_PACKAGES.stamp(), *texts)
