"""The build of the local suite's pages: the console, and the catalog of event types."""

import shutil

from tools.npm import CONSOLE_PACKAGES
from tools.paths import CONSOLE, PAGES, ROOT, STATE, VENV_PYTHON
from tools.steps import digest, read, run_step

_BUILT = STATE / "console.built"
# What a build is made of beside the folders of `sources`.
_FILES = (
    *("console/build.mjs", "firebase.json", ".env", ".env.demo-wall"),
    *("tools/event_catalog.py", "tools/event_catalog.html", "docs/openapi.yaml"),
    *("docs/receiving.md", "functions/webhooks/deliveries/queues.py"),
)
_TEXTS = ROOT / "functions" / "mail" / "catalogues"
# The files that a build cannot lack.
_OUTPUT = (
    *("console.html", "deliveries.html", "mail.html", "preferences.de.json"),
    *("colours.css", "mail_frame.js", "events.html", "events.js", "openapi.json"),
)


def is_current() -> bool:
    """Tell whether the local suite's pages are what the sources say."""
    return read(_BUILT) == sources() and all((PAGES / name).is_file() for name in _OUTPUT)


def install() -> None:
    """Build the pages; no network is needed.

    Raises:
        SetupError: The sources cannot be built.
    """
    stamp = sources()
    shutil.rmtree(PAGES, ignore_errors=True)  # with the pages whose sources are gone
    pages = ["node", "build.mjs", "--site", str(PAGES)]
    run_step("Building the console", pages, log="console.log", folder=CONSOLE)
    catalog = [str(VENV_PYTHON), "-m", "tools.event_catalog", str(PAGES)]
    run_step("Building the catalog of event types", catalog, log="catalog.log")
    _BUILT.write_text(stamp)


def sources() -> str:
    """Return a text that differs where any source does: the time of a file says nothing in git."""
    found = [ROOT / name for name in _FILES]
    for folder in (CONSOLE / "src", CONSOLE / "pages", ROOT / "public", _TEXTS):
        found += sorted(path for path in folder.rglob("*") if path.is_file())
    texts = (f"{path.relative_to(ROOT)}\n{read(path)}" for path in found)
    return digest(CONSOLE_PACKAGES.stamp(), *texts)
