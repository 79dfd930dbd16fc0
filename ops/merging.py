"""The security rules of an app with ours beside them.

Both stand in one `service cloud.firestore`, each in a block of its own for the documents. Names of
functions end with their block, so that none clash; Firestore allows what either block allows.
"""

import re
from typing import Final

from ops.braking import OFF, ON

_TEXT_OR_COMMENT: Final = re.compile(r"""('[^'\n]*'|"[^"\n]*")|//[^\n]*""")
_MATCH: Final = re.compile(r"\bmatch\s*(/\S+)\s*\{")
_BLOCK: Final = re.compile(r"^( *)match /(\S+) \{$", re.MULTILINE)
_BEGIN: Final = "// ---- photo wall: from here, as it stands in its firestore.rules ----"
_END: Final = "// ---- photo wall: to here ----"
_EARLIER: Final = re.compile(rf"\s*{re.escape(_BEGIN)}.*?{re.escape(_END)}", re.DOTALL)
_DOCUMENTS: Final = "/databases/{database}/documents"
_VARIABLE: Final = re.compile(r"\{\w+\}")
_EVERYTHING: Final = re.compile(r"/\{\w+=\*\*\}")


def block(ours: str) -> str:
    """The block of our rules: all that stands in their `service cloud.firestore`."""
    inside = ours.partition("service cloud.firestore {")[2]
    return inside[: inside.rindex("}")].strip("\n")


def merged(theirs: str, ours: str) -> str:
    """The rules of an app with our block at the end, in the place of an earlier one."""
    app = _EARLIER.sub("", theirs)
    if not app.strip():
        return ours
    end = _bare(app, keep_length=True).rindex("}")
    return f"{app[:end].rstrip()}\n\n  {_BEGIN}\n{block(ours)}\n  {_END}\n}}\n"


def is_merged(theirs: str, ours: str) -> bool:
    """Whether rules hold our block, with or without a brake; spaces and comments do not count."""
    return _compact(block(ours)) in _compact(theirs)


def is_ours(theirs: str, ours: str) -> bool:
    """Whether rules are ours and nothing else, with or without a brake."""
    return _compact(theirs) == _compact(ours)


def foreign_paths(theirs: str, ours: str) -> set[str]:
    """Paths of match blocks that are not among ours, nor those that a new project has.

    The names of variables do not count: `/events/{id}` is `/events/{eventId}`.
    """
    known = {_VARIABLE.sub("{}", path) for path in (*_MATCH.findall(_bare(ours)), _DOCUMENTS)}
    return {
        path
        for path in _MATCH.findall(_bare(theirs))
        if _VARIABLE.sub("{}", path) not in known and not _EVERYTHING.fullmatch(path)
    }


def paths_of(rules: str) -> list[str]:
    """Paths of documents that our rules have a block for, with the blocks around it.

    The indentation tells which block is within which.
    """
    paths: list[str] = []
    around: list[tuple[int, str]] = []
    for indentation, path in _BLOCK.findall(rules):
        while around and around[-1][0] >= len(indentation):
            around.pop()
        around.append((len(indentation), path))
        paths.append("/".join(part for _, part in around))
    root = f"{_DOCUMENTS[1:]}/"
    return [path.removeprefix(root) for path in paths if path.startswith(root)]


def _compact(rules: str) -> str:
    return "".join(_bare(rules.replace(ON, OFF)).split())


def _bare(rules: str, *, keep_length: bool = False) -> str:
    """Without comments."""
    return _TEXT_OR_COMMENT.sub(
        lambda found: found[1] or (" " * len(found[0]) if keep_length else ""), rules
    )
