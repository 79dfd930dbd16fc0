"""The contracts of pyproject.toml refuse a module that nobody has given a place."""

import ast
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[2]
LINT_IMPORTS: Final = Path(sys.executable).with_name("lint-imports")
REACHING: Final = (
    *("httpx", "aiohttp", "smtplib", "asyncio", "subprocess", "sqlite3", "importlib", "jinja2"),
    *("time", "random", "secrets", "socket", "os", "google", "emulator.demo", "tests"),
)
"""What would let a rule reach the world."""


CASES: Final = [
    (
        "webhooks/pause.py",
        "import flask\nfrom functions.webhooks import handlers\n",
        [
            "functions.webhooks.pause -> flask:",
            "functions.webhooks.pause -> functions.webhooks.handlers:",
            "- functions.webhooks.pause",
        ],
    ),
    ("webhooks/sender/pause.py", "import time\n", ["sender.pause -> time:"]),
    (
        "webhooks/milestones.py",
        "\n".join(f"import {name}" for name in REACHING),
        [f"milestones -> {name}:" for name in REACHING],
    ),
    ("wall/handlers.py", "from functions.wall import store", ["handlers is not allowed"]),
    (
        "webhooks/handlers.py",
        "from functions.firestore import client",
        ["functions.webhooks.handlers is not allowed to import functions.firestore.client"],
    ),
    (
        "webhooks/publisher.py",
        "from functions.webhooks.endpoints import sweep",
        ["publisher is not allowed to import functions.webhooks.endpoints.sweep"],
    ),
    (
        "webhooks/notices/notifier.py",
        "from functions.webhooks.endpoints import sweep",
        ["notifier is not allowed to import functions.webhooks.endpoints.sweep"],
    ),
    (
        "mail_events/recorder.py",
        "from functions.recap.sending import send_recap",
        ["recorder is not allowed to import functions.recap.sending.send_recap"],
    ),
    ("firestore/codec.py", "import ops.cloud, bench.figures", ["functions is not allowed"]),
    ("../bench/figures.py", "from tests.suite import wire", ["bench is not allowed"]),
    ("../ops/parts.py", "import main", ["ops is not allowed to import main"]),
    ("recap/pause.py", "", ["- functions.recap.pause"]),
    ("pause.py", "", ["- functions.pause"]),
    ("../emulator/pause.py", "", ["- emulator.pause"]),
    ("play/pause.py", "", ["- functions.play"]),
    ("gcp/fast/pause.py", "", ["functions.gcp.fast: its modules have no layers"]),
]
"""A module, what it imports, and what the check prints."""


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What the check prints of a copy of the tree with all these imports, on one line."""
    tree = tmp_path_factory.mktemp("tree")
    shutil.copy(ROOT / "pyproject.toml", tree)
    for name in ("functions", "tools", "emulator", "ops", "bench"):
        ignored = shutil.ignore_patterns("node_modules", "certs")
        shutil.copytree(ROOT / name, tree / name, ignore=ignored)
    for module, text, _ in CASES:
        path = tree / "functions" / module
        if not path.parent.exists():  # a package of two modules
            path.parent.mkdir()
            (path.parent / "__init__.py").touch()
            (path.parent / "further.py").touch()
        with path.open("a") as file:
            file.write(f"\n{text}\n")
    ran = subprocess.run(
        [str(LINT_IMPORTS), "--no-cache"], cwd=tree, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 1
    return " ".join(ran.stdout.split())


@pytest.mark.parametrize(
    ("module", "refusals"), [(module, refusals) for module, _, refusals in CASES]
)
def test_an_import_that_no_contract_allows_is_refused(
    printed: str, module: str, refusals: list[str]
) -> None:
    """A new module is checked without an entry in a list."""
    assert [refusal for refusal in refusals if refusal not in printed] == [], module


def test_the_deployed_surface_reaches_handlers_alone() -> None:
    """main.py declares functions: what they do stands behind the handlers."""
    imported = {
        f"{node.module}.{alias.name}"
        for node in ast.walk(ast.parse((ROOT / "main.py").read_text()))
        if isinstance(node, ast.ImportFrom) and node.module != "typing"
        for alias in node.names
    }
    declares = re.compile(
        r"firebase_functions\.\w+|functions\.(log|parameters|gcp\.\w+|gcp\.\w+\.\w+"
        r"|signed_in\.signed_in|process\.service|.*\.handlers|preferences\.trigger|\S+\.[A-Z_]+)"
    )
    assert {name for name in imported if not declares.fullmatch(name)} == set()


CONSOLE: Final = {"domain": {"domain"}, "data": {"domain", "data"}, "ui": {"domain", "data", "ui"}}
"""What the modules of each folder import; views import all of them."""


def test_the_console_has_layers_too() -> None:
    """The logic of the console knows no browser, and `data` alone talks to Firebase."""
    wrong = []
    for folder, allowed in CONSOLE.items():
        for module in (ROOT / "console/src" / folder).glob("*.ts*"):
            for name in re.findall(r'from "([^"]+)"', module.read_text()):
                room = name.split("/")[1] if name.startswith("../") else folder
                is_package = not name.startswith(".") and folder == "domain"
                if room not in allowed or is_package:
                    wrong.append(f"{folder}/{module.name} imports {name}")
    assert wrong == []
