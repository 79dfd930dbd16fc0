"""Design 5: the archive that `firebase deploy` uploads is complete and has no other files."""

import json
import os
import re
import shutil
import subprocess
import sys
import venv
import zipfile
from html.parser import HTMLParser
from importlib import metadata
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from emulator.cloud.deployment import RENDER
from emulator.firebase import local_config, read_addresses
from tools.paths import PAGES

ROOT: Final = Path(__file__).parents[2]

# Packs the functions' source with firebase-tools and the configuration of firebase.json.
_PACK: Final = """
const deploy = "firebase-tools/lib/deploy/functions/";
const { prepareFunctionsUpload } = require(deploy + "prepareFunctionsUpload.js");
const [config] = require(process.argv[1] + "/firebase.json").functions;
prepareFunctionsUpload(process.argv[1], process.argv[1], config, [], undefined)
  .then((made) => process.stdout.write(made.pathToSource));
"""


_LEFT_BEHIND: Final = (
    *(".coverage", ".coverage.host.1", ".hypothesis/examples", ".mypy_cache/a.json", ".DS_Store"),
    *(".env.another-project", ".env.local", ".secret.local", ".venv/bin/python", "htmlcov/a.html"),
    *("coverage.xml", "firestore-debug.log", "ann.json", "optouts.csv", "key.json", "key.pem"),
    *("firebase.acme.json", "firestore.acme.rules", "functions/__pycache__/a.pyc"),
)
"""Files of tools, and files that documented commands write, such as exports and keys."""


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Unpack the archive that a used checkout uploads."""
    folder, checkout = tmp_path_factory.mktemp("archive"), tmp_path_factory.mktemp("checkout")
    caches = shutil.ignore_patterns("__pycache__")  # other checks may be writing them now
    shutil.copytree(ROOT / "functions", checkout / "functions", ignore=caches)
    for name in _LEFT_BEHIND:
        (checkout / name).parent.mkdir(parents=True, exist_ok=True)
        (checkout / name).touch()
    for path in ROOT.iterdir():
        # A log of another check can be deleted at any moment.
        if path.suffix != ".log" and not (checkout / path.name).exists():
            (shutil.copy if path.is_file() else os.symlink)(path, checkout / path.name)
    packed = subprocess.run(
        ["node", "-e", _PACK, str(checkout)],
        cwd=ROOT / "emulator",
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    with zipfile.ZipFile(packed) as file:
        file.extractall(folder)
    Path(packed).unlink()
    return folder


@pytest.fixture(scope="module")
def python(archive: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Create an interpreter that has only the packages of the archive's requirements.txt.

    The packages are links to those of this environment, which has the pinned versions (see
    `test_environment.py`). pip compared their hashes during the installation.
    """
    folder = tmp_path_factory.mktemp("venv")
    venv.create(folder, symlinks=True)
    [site] = (folder / "lib").glob("python3.*/site-packages")
    for name in re.findall(
        r"^([a-z0-9.-]+)==", (archive / "requirements.txt").read_text(), re.MULTILINE
    ):
        for file in metadata.files(name) or ():
            if ".." not in file.parts and file.suffix != ".pyc":
                (site / file).parent.mkdir(parents=True, exist_ok=True)
                (site / file).symlink_to(file.locate())
    return folder / "bin" / "python"


def _run(python: Path, *arguments: str, cwd: Path | None = None) -> str:
    ran = subprocess.run(
        [str(python), *arguments],
        cwd=cwd,
        env={name: value for name, value in os.environ.items() if not name.startswith("GOOGLE_")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


def test_only_deployed_code_is_uploaded(archive: Path) -> None:
    """Upload code, templates and requirements, but no settings, secrets, exports or tests."""
    top = {path.name for path in archive.iterdir()}
    assert top == {"main.py", "functions", "requirements.txt"}
    kinds = {path.suffix for path in (archive / "functions").rglob("*") if path.is_file()}
    assert kinds <= {".py", ".html", ".txt", ".j2", ".css", ".po", ".cnf"}


def test_the_requirements_are_complete_and_pinned(archive: Path, python: Path) -> None:
    """Pin each requirement, including those of tools, to one version with hashes."""
    files = (archive / "requirements.txt", ROOT / "requirements-dev.txt")
    text = "\n".join(file.read_text() for file in files).replace("\\\n", "")
    named = [line for line in text.splitlines() if line and not line.lstrip().startswith("#")]
    pin = re.compile(r"[a-z0-9.-]+==[\w.]+( ; [^-]+?)?( +--hash=sha256:[0-9a-f]{64})+$")
    assert [line for line in named if not pin.match(line)] == []
    check = ("-m", "pip", "--python", str(python), "check")
    assert "No broken requirements found" in _run(Path(sys.executable), *check)


def test_every_function_loads_from_the_archive(archive: Path, python: Path) -> None:
    """Load the functions as the discovery and the runtime do."""
    functions = yaml.safe_load(_run(python, "-c", RENDER, cwd=archive))["endpoints"]
    assert functions == _of_the_checkout()
    modules = [
        ".".join(path.relative_to(archive).with_suffix("").parts)
        for path in (archive / "functions").rglob("*.py")
        if path.name != "__init__.py"
    ]
    _run(python, "-c", "import " + ", ".join(sorted(modules)), cwd=archive)


def _of_the_checkout() -> Any:
    ran = subprocess.run(
        [sys.executable, "-c", RENDER], cwd=ROOT, check=True, capture_output=True, text=True
    )
    return yaml.safe_load(ran.stdout)["endpoints"]


class _References(HTMLParser):
    """The URLs that a page loads or links."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        del tag
        self.found += [value for name, value in attrs if name in {"src", "href"} and value]


def test_every_page_of_the_site_is_complete() -> None:
    """Find each script, style, picture and linked page."""
    pages = {path.stem: _References(path.read_text()).found for path in PAGES.glob("*.html")}
    assert "preferences" in pages
    missing = {
        (page, reference)
        for page, references in pages.items()
        for reference in references
        if reference.startswith("/")
        and not any((PAGES / f"{reference[1:]}{end}").is_file() for end in ("", ".html"))
    }
    assert missing == set()


def test_a_deploy_of_hosting_builds_the_pages(tmp_path: Path) -> None:
    """Run `predeploy` in a new checkout with the packages of the lock files."""
    install, *builds = json.loads((ROOT / "firebase.json").read_text())["hosting"]["predeploy"]
    assert install == "npm --prefix console ci"
    committed = subprocess.run(
        [
            *("git", "ls-files", "--cached", "--others", "--exclude-standard"),
            *("console", "public", "functions", "docs", "tools"),
        ],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout.splitlines()
    for name in [*committed, "firebase.json"]:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    for installed in ("console/node_modules", "venv"):
        (tmp_path / installed).symlink_to(ROOT / installed)
    assert not (tmp_path / "public" / "console.html").exists()

    environment = os.environ | {"GCLOUD_PROJECT": "my-wall"}  # set by firebase-tools
    for build in builds:
        subprocess.run(
            build.split(), cwd=tmp_path, check=True, capture_output=True, env=environment
        )

    assert _files(tmp_path / "public") == _files(PAGES)
    for name in ("console", "deliveries"):
        page = (tmp_path / "public" / f"{name}.html").read_text()
        [reached] = re.findall(r"connect-src ([^;\"]*)", page)
        assert "https://us-central1-my-wall.cloudfunctions.net" in reached.split()
        assert "*" not in reached


def test_local_pages_are_separate_from_deployed_pages() -> None:
    """Keep a deploy's pages separate: they are neither served nor overwritten locally."""
    assert local_config(read_addresses())["hosting"]["public"] == ".emulator/public"
    assert "http://127.0.0.1:*" in (PAGES / "console.html").read_text()


def test_a_build_of_the_console_keeps_the_event_catalog(tmp_path: Path) -> None:
    """Run the build of console/README.md."""
    for name in ("events.html", "openapi.json"):
        (tmp_path / name).write_text("made by Python")
    build = ["node", "console/build.mjs", "--site", str(tmp_path)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    assert _files(tmp_path) == _files(PAGES)


def test_only_local_pages_may_connect_to_emulators() -> None:
    """Find no local address in the deployed files."""
    deployed = (ROOT / "firebase.json").read_text()
    config = local_config(read_addresses())

    policies = [
        header["value"]
        for rule in config["hosting"]["headers"]
        for header in rule["headers"]
        if header["key"] == "Content-Security-Policy" and "connect-src" in header["value"]
    ]
    assert len(policies) == deployed.count("connect-src") > 0
    assert all("connect-src http://127.0.0.1:9099 " in policy for policy in policies)
    assert "http://" not in deployed


def _files(folder: Path) -> set[str]:
    """Return file names without their hashes, which depend on the folder."""
    paths = [path.relative_to(folder) for path in folder.rglob("*") if path.is_file()]
    return {re.sub(r"-[A-Z0-9]{8}\.", ".", str(path)) for path in paths}
