"""Design 5: what `firebase deploy` would upload, made by firebase-tools itself, runs on its own."""

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

# firebase-tools' own packing of a functions source, with the configuration of firebase.json.
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
"""Files of tools, and of pages that have somebody write an export or a key into a file."""


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The archive that a checkout in use uploads, unpacked in an empty folder."""
    folder, checkout = tmp_path_factory.mktemp("archive"), tmp_path_factory.mktemp("checkout")
    shutil.copytree(ROOT / "functions", checkout / "functions")
    for name in _LEFT_BEHIND:
        (checkout / name).parent.mkdir(parents=True, exist_ok=True)
        (checkout / name).touch()
    for path in ROOT.iterdir():
        if not (checkout / path.name).exists():
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
    """An interpreter with what the archive's requirements.txt names, and nothing that it lacks.

    The packages are links to those of this environment, which has the pinned versions (see
    `test_environment.py`); pip has compared their hashes when it installed them.
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


def test_only_what_runs_is_uploaded(archive: Path) -> None:
    """A deploy uploads code, templates and requirements; no setting, secret, export or test."""
    top = {path.name for path in archive.iterdir()}
    assert top == {"main.py", "functions", "requirements.txt"}
    kinds = {path.suffix for path in (archive / "functions").rglob("*") if path.is_file()}
    assert kinds <= {".py", ".html", ".txt", ".j2", ".css", ".po", ".cnf"}


def test_the_requirements_are_complete_and_pinned(archive: Path, python: Path) -> None:
    """Each requirement, also of tools, names one version and its hashes, and none is missing."""
    files = (archive / "requirements.txt", ROOT / "requirements-dev.txt")
    text = "\n".join(file.read_text() for file in files).replace("\\\n", "")
    named = [line for line in text.splitlines() if line and not line.lstrip().startswith("#")]
    pin = re.compile(r"[a-z0-9.-]+==[\w.]+( ; [^-]+?)?( +--hash=sha256:[0-9a-f]{64})+$")
    assert [line for line in named if not pin.match(line)] == []
    check = ("-m", "pip", "--python", str(python), "check")
    assert "No broken requirements found" in _run(Path(sys.executable), *check)


def test_every_function_loads_from_the_archive_alone(archive: Path, python: Path) -> None:
    """The uploaded archive has all that the discovery and the runtime load."""
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
    """What a page loads or leads to."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        del tag
        self.found += [value for name, value in attrs if name in {"src", "href"} and value]


def test_every_page_of_the_site_opens_with_what_it_loads() -> None:
    """Each page has its scripts, styles, pictures and the pages that it links."""
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


def test_hosting_builds_the_pages_that_are_not_committed(tmp_path: Path) -> None:
    """`predeploy` runs in a fresh checkout with the packages of the locks."""
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

    environment = os.environ | {"GCLOUD_PROJECT": "my-wall"}  # as firebase-tools sets it
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


def test_the_local_suite_builds_pages_of_its_own() -> None:
    """What a deploy has built for its project is neither served here nor overwritten."""
    assert local_config(read_addresses())["hosting"]["public"] == ".emulator/public"
    assert "http://127.0.0.1:*" in (PAGES / "console.html").read_text()


def test_pages_that_are_built_by_hand_leave_the_catalogue_there(tmp_path: Path) -> None:
    """A build by hand, as console/README.md has it, keeps the page of event types."""
    for name in ("events.html", "openapi.json"):
        (tmp_path / name).write_text("made by Python")
    build = ["node", "console/build.mjs", "--site", str(tmp_path)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    assert _files(tmp_path) == _files(PAGES)


def test_only_local_pages_may_connect_to_emulators() -> None:
    """No deployed file names an address of a machine."""
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
    """Names, without the hashes in them: those tell of folders too."""
    paths = [path.relative_to(folder) for path in folder.rglob("*") if path.is_file()]
    return {re.sub(r"-[A-Z0-9]{8}\.", ".", str(path)) for path in paths}
