"""The words of the pages are for organizers and guests, not for developers."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import yaml

ROOT: Final = Path(__file__).parents[3]
DESCRIPTION: Final = yaml.safe_load((ROOT / "docs/openapi.yaml").read_text(encoding="utf-8"))
_COMMENT: Final = re.compile(r"/\*.*?\*/|(?<!:)//[^\n]*|<!--.*?-->", re.DOTALL)
_TEXT: Final = re.compile(r'"([^"\n]*)"|`([^`]*)`|>([^<>{};=]+)[<{]|}([^<>{};=]+)[<{]')


def _names() -> set[str]:
    """Parameters, functions, and arguments whose names are no words."""
    parameters = re.findall(
        "^([A-Z_]+)=", (ROOT / ".env").read_text(encoding="utf-8"), re.MULTILINE
    )
    functions = {path.strip("/") for path in DESCRIPTION["paths"]}
    names = {*parameters, *functions, *_properties(DESCRIPTION)}
    return {name for name in names if re.search("[a-z][A-Z]|_", name)}


def _properties(schema: Any) -> Iterator[str]:
    if isinstance(schema, dict):
        yield from (name for name in schema.get("properties", {}) if isinstance(name, str))
        for part in schema.values():
            yield from _properties(part)
    elif isinstance(schema, list):
        for part in schema:
            yield from _properties(part)


def _texts(source: str) -> list[str]:
    """Literals and elements that hold several words."""
    found = ["".join(parts) for parts in _TEXT.findall(_COMMENT.sub("", source))]
    prose = re.compile(r"[a-z,]+ [a-z]+ |[a-z]+ [A-Z_]+[.,)]")
    code = re.compile(r"\w\(|&&|[|]{2}|\b(?:const|return|export|readonly)\b")
    texts = [re.sub(r"\$\{[^}]*\}", "…", text) for text in found if prose.search(text)]
    return [text for text in texts if not code.search(text)]


def _named(source: str) -> list[str]:
    names = re.compile(rf"\b({'|'.join(map(re.escape, sorted(_names())))})\b")
    return [text for text in _texts(source) if names.search(text)]


def test_no_page_names_a_parameter_a_function_or_an_argument() -> None:
    """An organizer knows none of them; what an API says reaches no one at a page."""
    pages = [
        *(ROOT / "console/src/views").rglob("*.tsx"),
        *(ROOT / "console/src/ui").glob("*.ts*"),
        *(ROOT / "console/src/domain").glob("*.ts"),
        *(ROOT / "console/pages").glob("*.html"),
        *(ROOT / "public").glob("preferences.*"),
        ROOT / "public/404.html",
    ]
    found = {path.name: _named(path.read_text(encoding="utf-8")) for path in pages}
    assert {name: texts for name, texts in found.items() if texts} == {}


def test_a_name_in_a_text_is_found() -> None:
    """In a literal, a template and an element; a comment and a call's name are no texts."""
    assert _named('const a = "Its host is none of PHOTO_HOSTS";')
    assert _named("say(`${count} of them, call without resendUnconfirmed`)")
    assert _named("<p>Leave the sendToMe out of it.</p>")
    assert not _named('// Only the hosts of PHOTO_HOSTS.\ncall("sendEventRecap", { ...data })')
