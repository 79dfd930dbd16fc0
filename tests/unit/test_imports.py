"""The contracts of pyproject.toml refuse a module that nobody has given a place."""

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


def lint(tree: Path) -> tuple[int, str]:
    """The exit status of the check in `tree`, and what it prints, on one line."""
    ran = subprocess.run(
        [str(LINT_IMPORTS), "--no-cache"], cwd=tree, capture_output=True, text=True, check=False
    )
    return ran.returncode, " ".join(ran.stdout.split())


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A copy of what the check reads."""
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    for name in ("functions", "emulator"):
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
                "functions.webhooks.pause imports flask,",
                "functions.webhooks.pause imports functions.webhooks.handlers,",
                "- functions.webhooks.pause",
            ],
        ),
        ("webhooks/sender/pause.py", "import time\n", ["sender.pause imports time,"]),
        ("recap/pause.py", "", ["- functions.recap.pause"]),
        ("pause.py", "", ["- functions.pause"]),
        ("../emulator/pause.py", "", ["- emulator.pause"]),
    ],
)
def test_a_new_module_is_pure_and_has_a_layer(
    tree: Path, module: str, text: str, refusals: list[str]
) -> None:
    """Nobody has to remember to add it to a list of what is checked."""
    (tree / "functions" / module).write_text(text)
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
    layers = [contract for contract in CONTRACTS if contract["type"] == "layers"]
    assert [contract["name"] for contract in layers if not contract.get("exhaustive")] == []
    own = {container for contract in layers for container in contract["containers"]}
    exceptions = {
        f"{container}.{name}"
        for contract in layers
        for container in contract["containers"]
        for name in contract.get("exhaustive_ignores", [])
    }
    assert exceptions <= own
