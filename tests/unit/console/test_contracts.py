"""Imports of the console point down the layers (console/README.md)."""

import re
from pathlib import Path
from typing import Final

import pytest

SOURCE: Final = Path(__file__).parents[3] / "console" / "src"
LAYERS: Final = ("domain", "data", "ui", "views")
"""From lowest to highest. A module outside of the folders is the entry of a page."""
FIRESTORE: Final = re.compile(r'^import (?!type\b).*"firebase/firestore";$', re.MULTILINE)
IMPORTED: Final = re.compile(r'(?:from|import)\s*\(?"([^"]+)"')

MODULES: Final = sorted(path for path in SOURCE.rglob("*.ts*"))


def layer(path: Path) -> int:
    """Return the number of a module's layer."""
    folder = path.relative_to(SOURCE).parts[0]
    return LAYERS.index(folder) if folder in LAYERS else len(LAYERS)


def imports(path: Path) -> set[Path]:
    """Return the console's own modules that a module imports."""
    found = IMPORTED.findall(path.read_text())
    return {(path.parent / name).resolve() for name in found if name.startswith(".")}


def upward(path: Path) -> list[str]:
    """Return the imports of a module from a higher layer."""
    return [str(other.relative_to(SOURCE)) for other in imports(path) if layer(other) > layer(path)]


@pytest.mark.parametrize("module", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_no_module_imports_from_a_higher_layer(module: Path) -> None:
    """`domain` also imports no package."""
    assert upward(module) == []
    packages = re.findall(r'from "([^".][^"]*)"', module.read_text())
    assert not packages or layer(module) > LAYERS.index("domain")


def test_type_imports_and_dynamic_imports_are_found() -> None:
    """Otherwise they could point up."""
    for text in ('import type { A } from "../ui/a.tsx";', 'await import("../ui/a.tsx")'):
        assert IMPORTED.findall(text) == ["../ui/a.tsx"]
    assert layer(SOURCE / "ui" / "a.tsx") > layer(SOURCE / "data" / "a.ts")


def test_the_entries_do_not_load_firestore() -> None:
    """Sign-in and the page of a link do not need its large library."""
    for entry in ("console.tsx", "receiver.tsx"):
        reached = {SOURCE / entry}
        while more := {found for path in reached for found in static(path)} - reached:
            reached |= more
        assert [path.name for path in reached if FIRESTORE.search(path.read_text())] == []


def static(path: Path) -> set[Path]:
    """Return the console's own modules that a module loads statically."""
    text = re.sub(r"^import type [^;]*;|import\([^)]*\)", "", path.read_text(), flags=re.MULTILINE)
    found = IMPORTED.findall(text)
    return {(path.parent / name).resolve() for name in found if name.startswith(".")}
