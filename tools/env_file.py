"""Parser of `.env` files, compatible with firebase-tools: quotes, trailing comments, `export`.

It uses only the standard library. `ops/` and the local cloud read the settings with it.
https://github.com/firebase/firebase-tools/blob/master/src/functions/env.ts
"""

import re
from pathlib import Path
from typing import Final

_LINE: Final = re.compile(
    r"""^\s*(?:export)?\s*([A-Za-z0-9_./]+)\s*=[\f\t\v]*"""
    r"""(\s*'(?:\\'|[^'])*'|\s*"(?:\\"|[^"])*"|[^#\r\n]*)?\s*(?:#[^\n]*)?$""",
    re.MULTILINE | re.DOTALL,
)
_QUOTED: Final = re.compile(r"""(["'])(.*)\1""", re.DOTALL)
_ESCAPE: Final = re.compile(r"""\\([nrtv\\'"])""")
_CHARACTERS: Final = {"n": "\n", "r": "\r", "t": "\t", "v": "\v"}


class EnvFileError(Exception):
    """A line is not a setting. The text has the file and the line's number."""


def read(path: Path) -> dict[str, str]:
    """Return the settings of a file by name. A missing file has no settings.

    Raises:
        EnvFileError: The tool firebase-tools would reject a line of the file.
    """
    if not path.exists():
        return {}
    text = path.read_text(encoding="utf-8").replace("\r\n", "\n").replace("\r", "\n")
    # Line breaks of a setting are kept, so that the lines keep their numbers.
    rest = _LINE.sub(lambda found: "\n" * found[0].count("\n"), text)
    for number, line in enumerate(rest.split("\n"), 1):
        if line.strip() and not line.lstrip().startswith("#"):
            raise EnvFileError(
                f"{path.name}, line {number}: write NAME=value, or begin the line with #."
            )
    return {found[1]: _value(found[2] or "") for found in _LINE.finditer(text)}


def _value(text: str) -> str:
    quoted = _QUOTED.fullmatch(text.strip())
    if quoted is None:
        return text.strip()
    if quoted[1] == "'":
        return quoted[2]
    return _ESCAPE.sub(lambda found: _CHARACTERS.get(found[1], found[1]), quoted[2])
