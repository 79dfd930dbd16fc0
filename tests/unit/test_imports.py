"""The import contracts of pyproject.toml reject modules without a layer."""

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
"""Packages with access to external systems, which a pure module must not import."""


CASES: Final = [
    (
        "webhooks/pause.py",
        "import flask\nfrom functions.webhooks import publisher\n",
        ["functions.webhooks.pause -> flask:", "- functions.webhooks.pause"],
    ),
    ("webhooks/sender/pause.py", "import time\n", ["sender.pause -> time:"]),
    (
        "call/caller.py",
        "\n".join(f"import {name}" for name in REACHING),
        [f"call.caller -> {name}:" for name in REACHING],
    ),
    (
        "wall/wall_event.py",
        "from functions.webhooks import publisher",
        ["functions.wall is not allowed"],
    ),
    (
        "webhooks/publisher.py",
        "from functions.webhooks.endpoints import endpoint_sweep",
        ["publisher is not allowed to import functions.webhooks.endpoints.endpoint_sweep"],
    ),
    ("firestore/codec.py", "import ops.cloud, bench.figures", ["functions is not allowed"]),
    ("../bench/figures.py", "from tests.suite import tcp_proxy", ["bench is not allowed"]),
    ("../ops/parts.py", "import main", ["ops is not allowed to import main"]),
    ("recap/pause.py", "", ["- functions.recap.pause"]),
    ("pause.py", "", ["- functions.pause"]),
    ("../emulator/pause.py", "", ["- emulator.pause"]),
]
"""A module, its imports, and the output of the check."""


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the output of the check for a copy of the tree with all these imports."""
    tree = tmp_path_factory.mktemp("tree")
    shutil.copy(ROOT / "pyproject.toml", tree)
    for name in ("functions", "tools", "emulator", "ops", "bench"):
        ignored = shutil.ignore_patterns("node_modules", "certs", "__pycache__")
        shutil.copytree(ROOT / name, tree / name, ignore=ignored)
    for module, text, _ in CASES:
        with (tree / "functions" / module).open("a") as file:
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
    """New modules need no entry in a list."""
    assert [refusal for refusal in refusals if refusal not in printed] == [], module


HANDLERS: Final = r"\S+(_calls|_triggers)"


def imports_of(path: Path) -> set[str]:
    """Return the qualified names that a module imports."""
    return {
        f"{node.module}.{alias.name}"
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom) and node.module != "typing"
        for alias in node.names
    }


def test_main_imports_only_handlers_and_declarations() -> None:
    """main.py declares the functions. Their code is in the handlers."""
    declares = re.compile(
        r"firebase_functions\.\w+|functions\.(log|parameters|service_accounts|gcp\.\w+|gcp\.\w+\.\w+"
        rf"|process\.service|{HANDLERS}|\S+\.[A-Z_]+)"
    )
    assert {name for name in imports_of(ROOT / "main.py") if not declares.fullmatch(name)} == set()


def test_a_handler_imports_no_store() -> None:
    """Decisions are in use cases, which can be tested without requests."""
    stores = re.compile(r"functions\.(firestore\.client|(?!firestore)\S+store)\.\w+")
    handlers = [
        path
        for path in (ROOT / "functions").rglob("*.py")
        if re.fullmatch(HANDLERS, ".".join(path.relative_to(ROOT).with_suffix("").parts))
    ]
    assert len(handlers) > len(("webhooks", "recap", "preferences", "wall"))
    assert {str(at): n for at in handlers for n in imports_of(at) if stores.fullmatch(n)} == {}


def test_a_cold_start_loads_no_capability() -> None:
    """Each function of main.py imports its handler when it is called."""
    loaded = "import main, sys; print(*(m for m in sys.modules if m.startswith('functions.')))"
    printed = subprocess.run(
        [sys.executable, "-c", loaded], cwd=ROOT, capture_output=True, check=True
    )
    of_capabilities = {
        module
        for module in printed.stdout.decode().split()
        if module.startswith(
            tuple(
                f"functions.{folder}."
                for folder in ("links", "mail", "preferences", "recap", "wall", "webhooks")
            )
        )
    }
    assert of_capabilities == {
        "functions.recap.ledger",
        "functions.recap.ledger.batch",
        "functions.webhooks.deliveries",
        "functions.webhooks.deliveries.fair_queue",
        "functions.webhooks.deliveries.queues",
    }


def test_the_modules_of_ops_form_no_cycle() -> None:
    """Include imports inside functions."""
    below = {
        path.stem: {name.split(".")[1] for name in imports_of(path) if name.startswith("ops.")}
        for path in (ROOT / "ops").glob("*.py")
    }
    while ready := {name for name, needs in below.items() if not needs & below.keys()}:
        below = {name: needs for name, needs in below.items() if name not in ready}
    assert below == {}


def test_an_installation_needs_no_package() -> None:
    """The README's first command runs before the installation."""
    imported = f"import sys; sys.path.insert(0, {str(ROOT)!r}); import tools.installation"
    ran = subprocess.run(
        [sys.executable, "-I", "-S", "-c", imported], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
