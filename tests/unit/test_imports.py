"""The contracts of pyproject.toml refuse a module that nobody has given a place."""

import ast
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[2]
LINT_IMPORTS: Final = Path(sys.executable).with_name("lint-imports")
CONTRACTS: Final = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"][
    "contracts"
]


REACHING: Final = (
    *("httpx", "aiohttp", "smtplib", "asyncio", "subprocess", "sqlite3", "importlib", "jinja2"),
    *("time", "random", "secrets", "socket", "os", "google", "emulator.demo", "tests"),
)
"""What would let a rule reach the world."""


def lint(tree: Path) -> tuple[int, str]:
    """The exit status of the check in `tree`, and what it prints, on one line."""
    ran = subprocess.run(
        [str(LINT_IMPORTS), "--no-cache"], cwd=tree, capture_output=True, text=True, check=False
    )
    return ran.returncode, " ".join(ran.stdout.split())


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A copy of the files that the check reads."""
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    for name in ("functions", "emulator", "ops", "bench"):
        ignored = shutil.ignore_patterns("node_modules", "certs")
        shutil.copytree(ROOT / name, tmp_path / name, ignore=ignored)
    return tmp_path


@pytest.mark.parametrize(
    ("module", "text", "refusals"),
    [
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
        ("gcp/values.py", "import ops.cloud, bench.figures", ["functions is not allowed"]),
        ("../bench/figures.py", "from tests.suite import wire", ["bench is not allowed"]),
        ("../ops/parts.py", "import main", ["ops is not allowed to import main"]),
        ("recap/pause.py", "", ["- functions.recap.pause"]),
        ("pause.py", "", ["- functions.pause"]),
        ("../emulator/pause.py", "", ["- emulator.pause"]),
    ],
)
def test_an_import_that_no_contract_allows_is_refused(
    tree: Path, module: str, text: str, refusals: list[str]
) -> None:
    """A new module is checked as well, without an entry in a list."""
    with (tree / "functions" / module).open("a") as file:
        file.write(f"\n{text}\n")
    status, printed = lint(tree)
    assert status == 1
    assert [refusal for refusal in refusals if refusal not in printed] == []


def test_the_modules_of_every_package_have_layers() -> None:
    """A package of several modules is in a contract that lists all of them."""
    exhaustive = {
        container
        for contract in CONTRACTS
        if contract.get("exhaustive")
        for container in contract["containers"]
    }
    packages = {
        ".".join(folder.relative_to(ROOT).parts)
        for folder in [ROOT / "functions", *(ROOT / "functions").rglob("*/")]
        if len(list(folder.glob("[!_]*.py"))) > 1
    }
    assert packages - exhaustive == set()


def test_every_contract_of_layers_lists_all_modules() -> None:
    """An exception is a package, and has a contract of its own."""
    layers = [contract for contract in CONTRACTS if "containers" in contract]
    assert [contract["name"] for contract in layers if not contract.get("exhaustive")] == []
    own = {container for contract in layers for container in contract["containers"]}
    exceptions = {
        f"{container}.{name}"
        for contract in layers
        for container in contract["containers"]
        for name in contract.get("exhaustive_ignores", [])
    }
    assert exceptions <= own


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
        r"|signed_in\.signed_in|.*\.handlers|preferences\.trigger|\S+\.[A-Z_]+)"
    )
    assert {name for name in imported if not declares.fullmatch(name)} == set()


CONSOLE: Final = {"domain": {"domain"}, "data": {"domain", "data"}, "ui": {"domain", "data", "ui"}}
"""What the modules of each folder import; views import all of them."""


def test_the_console_has_layers_too() -> None:
    """Its logic knows no browser and no Firebase; only `data` talks to either."""
    wrong = []
    for folder, allowed in CONSOLE.items():
        for module in (ROOT / "console/src" / folder).glob("*.ts*"):
            for name in re.findall(r'from "([^"]+)"', module.read_text()):
                room = name.split("/")[1] if name.startswith("../") else folder
                is_package = not name.startswith(".") and folder == "domain"
                if room not in allowed or is_package:
                    wrong.append(f"{folder}/{module.name} imports {name}")
    assert wrong == []
