"""`python3 -m emulator generate`: write the parts of files that follow from the code.

Each fact has one source: parameters in `functions/parameters.py`, event types in
`functions/webhooks/events.py`, texts of a recap in `functions/recap/recap_arguments.py`, functions
in `main.py`. A generated part begins at a line with `generated: NAME` and ends at a line with `end
of NAME`. `--check` changes nothing and fails if a part is stale.
"""

import json
import re
import sys
import textwrap
from collections.abc import Callable, Mapping
from typing import Final

from functions.local_suite import OVERRIDES
from functions.mail.text import one_line
from functions.parameters import DECLARED, EXPLAINED
from functions.recap.recap_arguments import TEXTS
from functions.webhooks.events import BY_DEFAULT, LABELS, EventType
from tools import event_schemas, function_tables
from tools.event_schemas import listed_only, quoted
from tools.paths import ROOT
from tools.steps import read, say

_WIDTH: Final = 100
_README_WIDTH: Final = 125

_ARGUMENT: Final = re.compile(r"^\| (\w+) \| string \| no \| ([^|]+?) \|$", re.MULTILINE)
"""An optional text in the specification's tables of arguments: its name and its rule."""

ENVIRONMENT: Final = {
    # name: its value, and its comment
    "MALLOC_ARENA_MAX": (
        "1",
        (
            "One heap for all threads. With a heap for each thread, glibc's memory grows with every"
            " request."
        ),
    ),
    "OPENSSL_CONF": (
        "functions/webhooks/sender/openssl.cnf",
        (
            "Path of OpenSSL's settings, from the folder of main.py. They keep a receiver from"
            " making the service compute in large finite fields."
        ),
    ),
}
"""Lines of `.env` that are no parameters: environment variables of each instance."""

_FIRST_VALUES: Final = {
    "MAIL_FROM": "Photo Wall <photos@example.com>",
    "PUBLIC_BASE_URL": "https://example.com",
}
"""Values of required parameters, which a first deploy replaces."""


def written(default: object) -> str:
    """Return a default as `.env` has it."""
    if default is None:
        return ""
    return str(default).lower() if isinstance(default, bool) else str(default)


def dotenv(before: str) -> str:
    """Return the text of `.env` with the values that `before` has."""
    kept = dict(re.findall(r"^(\w+)=(.*)$", before, re.MULTILINE))
    parameters = [
        (each.name, _FIRST_VALUES.get(each.name, written(each.default)), EXPLAINED[each.name])
        for each in DECLARED.values()
    ]
    further = [(name, value, comment) for name, (value, comment) in ENVIRONMENT.items()]
    head = (
        "Parameters of the deployed functions, with their defaults. Every parameter has a line, so"
        " that a deploy asks no question. Generated from functions/parameters.py: set your values,"
        " but add a parameter there."
    )
    lines = [*_commented(head), ""]
    for name, value, comment in parameters + further:
        lines += [*_commented(comment), f"{name}={kept.get(name, value)}"]
    return "\n".join(lines) + "\n"


def local_dotenv(before: str) -> str:
    """Return the text of `.env.demo-wall`: `before`, with a line for each new parameter."""
    present = set(re.findall(r"^(\w+)=", before, re.MULTILINE))
    new = [each for each in DECLARED.values() if each.name not in present]
    lines = "".join(f"{each.name}={written(each.default)}\n" for each in new)
    removed = rf"^(?!(?:{'|'.join((*EXPLAINED, *ENVIRONMENT, *OVERRIDES))})=)[A-Z_]+=.*\n"
    kept = re.sub(removed, "", before, flags=re.MULTILINE)
    return kept.replace("MALLOC_ARENA_MAX=", f"{lines}MALLOC_ARENA_MAX=")


def _commented(text: str) -> list[str]:
    return [f"# {line}" for line in textwrap.wrap(text, _WIDTH - 2)]


def parameter_table() -> str:
    """Return the rows of the reference's table of parameters."""
    rows = ["| name | default | meaning |", "|---|---|---|"]
    for each in DECLARED.values():
        default = written(each.default)
        shown = f" `{default}` " if default else " "
        rows.append(f"| `{each.name}` |{shown}| {EXPLAINED[each.name]} |")
    return "\n".join(rows) + "\n"


def console_types() -> str:
    """Return the console's event types with their names."""
    entries = [f'  "{event_type}": "{LABELS[event_type]}",' for event_type in EventType]
    listed = ", ".join(f'"{event_type}"' for event_type in listed_only())
    lines = ["export const EVENT_WORDS = {", *entries, "} as const;"]
    lines += [
        "/** Types that an endpoint gets only if it lists them. */",
        f"const LISTED_ONLY = [{listed}];",
    ]
    return "\n".join(lines) + "\n"


def recap_text_schemas() -> str:
    """Return the schemas of a recap's texts. Their descriptions are rules of specification 4.1."""
    _, _, section = read(ROOT / "docs/specification.md").partition("### 4.1 ")
    rules = dict(_ARGUMENT.findall(section.partition("### 4.2 ")[0]))
    lines = ""
    for name, text in TEXTS.items():
        schema = {
            "type": ["string", "null"],
            "maxLength": text.characters,
            "description": f"{rules[name][0].upper()}{rules[name][1:]}.",
        }
        lines += f"        {name}: {json.dumps(schema, ensure_ascii=False)}\n"
    return lines


def console_texts() -> str:
    """Return the console's texts of a recap with their limits."""
    entries = ""
    for name, text in TEXTS.items():
        has_lines = written(text.clean is not one_line)
        entries += f"  {name}: {{ characters: {text.characters}, hasLines: {has_lines} }},\n"
    return f"export const RECAP_TEXTS = {{\n{entries}}} as const;\n"


def rule_types() -> str:
    """Return the pattern of an endpoint in the rules: its event types, its id and its URL."""
    verbs: dict[str, list[str]] = {}
    for event_type in EventType:
        subject, _, verb = event_type.partition(".")
        verbs.setdefault(subject, []).append(verb)
    names = "|".join(
        f"{subject}[.]" + (found[0] if len(found) == 1 else f"({'|'.join(found)})")
        for subject, found in verbs.items()
    )
    types = rf"(({names})\n){{0,{len(EventType)}}}"
    return rf"                '{types}#\n[A-Za-z0-9_-]{{0,40}}\n.{{0,1000}}.{{0,499}}');" + "\n"


def readme_types() -> str:
    """Return the README's list of event types."""
    usual = [f"`{event_type}`" for event_type in EventType if event_type in BY_DEFAULT]
    text = f"Event types: {', '.join(usual)}; {quoted(listed_only())} only if an endpoint lists it."
    return "\n".join(textwrap.wrap(text, _README_WIDTH)) + "\n"


PARTS: Final[Mapping[tuple[str, str], Callable[[], str]]] = {
    ("docs/reference.md", "parameters"): parameter_table,
    ("console/src/domain/event_type.ts", "event types"): console_types,
    ("firestore.rules", "event types"): rule_types,
    ("docs/openapi.yaml", "webhooks"): event_schemas.webhooks,
    ("docs/openapi.yaml", "event types"): event_schemas.event_types,
    ("docs/openapi.yaml", "bodies"): event_schemas.schemas,
    **{
        ("docs/openapi.yaml", f"texts of {call}"): recap_text_schemas
        for call in ("sendEventRecap", "scheduleEventRecap", "previewEventRecap")
    },
    ("console/src/domain/recap_text.ts", "texts of a recap"): console_texts,
    ("README.md", "event types"): readme_types,
    ("docs/security.md", "functions"): function_tables.accounts,
    ("docs/internals/scale.md", "functions"): function_tables.cpus,
}
"""Functions that return the generated parts, by file and name of the part."""


def _with_part(text: str, name: str, part: str) -> str:
    pattern = re.compile(
        rf"(?P<begin>^[^\n]*generated: {name}[^\n]*\n).*?(?P<end>^[^\n]*end of {name}\b)",
        re.MULTILINE | re.DOTALL,
    )
    replaced, count = pattern.subn(lambda found: found["begin"] + part + found["end"], text)
    if count != 1:
        raise ValueError(name)
    return replaced


def files() -> Mapping[str, str]:
    """Return each file with its generated parts, by its path."""
    generated = {
        ".env": dotenv(read(ROOT / ".env")),
        ".env.demo-wall": local_dotenv(read(ROOT / ".env.demo-wall")),
    }
    for (path, name), make in PARTS.items():
        text = generated.get(path) or read(ROOT / path)
        generated[path] = _with_part(text, name, make())
    return generated


def run(*, check: bool) -> int:
    """Write every generated part, or only compare, and return the exit status."""
    stale = {path: text for path, text in files().items() if read(ROOT / path) != text}
    if check:
        for path in stale:
            say(f"{path} has a stale generated part. Run: python3 -m emulator generate")
        return int(bool(stale))
    for path, text in stale.items():
        (ROOT / path).write_text(text)
        say(f"Wrote {path}.")
    return 0


if __name__ == "__main__":
    sys.exit(run(check="--check" in sys.argv[1:]))
