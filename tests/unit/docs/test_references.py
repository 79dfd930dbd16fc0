"""Sections, files and functions that the code and the documentation name exist."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from functions.parameters import DECLARED
from tools.command_list import COMMANDS

ROOT: Final = Path(__file__).parents[3]
MODULES: Final = {
    path.name
    for top in ("functions", "tests", "emulator", "ops", "tools", "bench")
    for path in (ROOT / top).glob("**/*.py")
} | {"main.py"}
PAGES: Final = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("**/*.md"))]
_CODE: Final = (
    "main.py",
    "firestore.rules",
    "functions/**/*.py",
    "emulator/*.py",
    "tests/**/*.py",
    "bench/**/*.py",
)
# `spec 3.4`, `spec 5 and 6.2`, `design 2, 3`.
_REFERENCE: Final = re.compile(
    r"\b(spec|specification|design) (\d+(?:\.\d+)*(?:(?:,| and|, and) \d+(?:\.\d+)*)*)",
    re.IGNORECASE,
)
_HEADING: Final = re.compile(r"^#+ (\d+(?:\.\d+)?)\.? ", re.MULTILINE)
_POINT: Final = re.compile(r"^(\d+)\. ", re.MULTILINE)
_ROW: Final = re.compile(r"^\| (\d+\.\d+) \|", re.MULTILINE)
_LINK: Final = re.compile(r"\[[^\]]*\]\(([^)#\s]*)#?([^)\s]*)\)")


def sections(page: str) -> set[str]:
    """Return the section numbers of a page in docs/, with points and rows: 6.3, 6.3.4 and 3.12."""
    text = (ROOT / "docs" / page).read_text()
    found: set[str] = set()
    headings = list(_HEADING.finditer(text))
    for heading in headings:
        body = text[heading.end() :].partition("\n#")[0]
        found |= {heading[1], *(f"{heading[1]}.{point}" for point in _POINT.findall(body))}
        found |= set(_ROW.findall(body))
    return found


def references(file: Path) -> Iterator[tuple[str, str]]:
    """Yield the pages and section numbers that `file` names."""
    text = re.sub(r"\s*\n\s*(?:#|//)?\s*", " ", file.read_text())
    for page, numbers in _REFERENCE.findall(text):
        for number in re.findall(r"\d+(?:\.\d+)*", numbers):
            yield page.lower(), number


def test_every_section_that_the_code_names_exists() -> None:
    """References to design 3 must name the row."""
    there = {
        "spec": sections("specification.md"),
        "specification": sections("specification.md"),
        "design": sections("design.md"),
    }
    missing = [
        f"{file.relative_to(ROOT)}: {page} {number}"
        for pattern in (*_CODE, "*.md", "docs/**/*.md")
        for file in sorted(ROOT.glob(pattern))
        for page, number in references(file)
        if number not in there[page]
        or (pattern.startswith("functions/") and (page, number) == ("design", "3"))
    ]
    assert not missing


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_to_a_file_and_a_heading(page: Path) -> None:
    """Include links to pictures."""
    targets = [link for link in _LINK.findall(page.read_text()) if "://" not in link[0]]
    assert [target for target in targets if not leads(page, *target)] == []


def leads(page: Path, name: str, heading: str) -> bool:
    """Return whether the target of a link exists, with GitHub's names of headings."""
    target = page.parent / name if name else page
    if not heading:
        return target.exists()
    headings = re.findall(r"^#+ (.*)$", target.read_text(), re.MULTILINE)
    return heading in {re.sub(r"[^\w -]", "", text.lower()).replace(" ", "-") for text in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_file_that_a_page_names_exists(page: Path) -> None:
    """Files that the setup creates are exempt."""
    named = re.findall(
        r"`((?:functions|tests|bench|console|emulator|ops|docs|public)/[\w./-]+)`", page.read_text()
    )
    made = ("emulator/node_modules", "emulator/certs/")  # on first use
    missing = [item for item in named if not (ROOT / item).exists() and not item.startswith(made)]
    bare = set(re.findall(r"`(\w+\.py)`", page.read_text())) - {
        "receiver.py"
    }  # created by the reader
    assert (missing, sorted(bare - MODULES)) == ([], [])


def test_the_map_of_the_code_has_every_folder() -> None:
    """Every file and folder of the README's map exists."""
    shown = (ROOT / "README.md").read_text().partition("## Map of the code")[2]
    named = re.findall(r"^([a-z][\w./]*)  +", shown, re.MULTILINE)
    assert [name for name in named if not (ROOT / name).exists()] == []
    modules = (ROOT / "functions").glob("*/*.py")
    assert {f"functions/{module.parent.name}/" for module in modules} <= set(named)


def test_the_way_of_a_photo_names_existing_functions() -> None:
    """Each file of the README's way exists and defines the name."""
    way = (ROOT / "README.md").read_text().partition("## The way of a photo")[2]
    folder = ROOT
    for path, name in re.findall(r"^ *([\w/]+\.py)  ([\w.]+)  ", way, re.MULTILINE):
        file = (ROOT if (ROOT / path).exists() else folder) / path
        folder = (ROOT / path).parent if (ROOT / path).exists() else folder
        for part in name.split("."):
            assert re.search(rf"^ *(def|class) {part}\b", file.read_text(), re.MULTILINE), name


def named_in_design(what: str) -> list[str]:
    """Return the names in the point `what` of design 4."""
    contract = (ROOT / "docs/design.md").read_text().partition("\n## 4. Contract\n")[2]
    pattern = rf"^- \*\*{what}\*\*:? (.*?)\.\n(?=- )"
    [point] = re.findall(pattern, contract, re.MULTILINE | re.DOTALL)
    return re.findall(r"`(\w+)[^`]*`", point)


def test_the_design_names_every_command() -> None:
    """Design 4 has exactly the commands of `--help`."""
    assert named_in_design("Commands")[1:] == list(COMMANDS)


def test_the_readme_repeats_no_parameter() -> None:
    """They are in the reference."""
    readme = (ROOT / "README.md").read_text()
    assert [each.name for each in DECLARED.values() if f"| `{each.name}` |" in readme] == []
