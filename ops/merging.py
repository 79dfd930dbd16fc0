"""Merges the security rules of the service into the rules of an app.

Each set of rules is a block in `service cloud.firestore`, with its functions in the block's scope.
Firestore grants access if either block does.
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
    """Return the contents of `service cloud.firestore` in our rules."""
    inside = ours.partition("service cloud.firestore {")[2]
    return inside[: inside.rindex("}")].strip("\n")


def merged(theirs: str, ours: str) -> str:
    """Return the rules of an app with our block at the end. Replace an earlier block."""
    app = _EARLIER.sub("", theirs)
    if not app.strip():
        return ours
    end = _bare(app, keep_length=True).rindex("}")
    return f"{app[:end].rstrip()}\n\n  {_BEGIN}\n{block(ours)}\n  {_END}\n}}\n"


def is_merged(theirs: str, ours: str) -> bool:
    """Return whether rules include our block. Ignore the brake, spaces and comments."""
    return _compact(block(ours)) in _compact(theirs)


def is_ours(theirs: str, ours: str) -> bool:
    """Return whether rules equal ours. Ignore the brake, spaces and comments."""
    return _compact(theirs) == _compact(ours)


def foreign_paths(theirs: str, ours: str) -> set[str]:
    """Return the paths of match blocks that neither we nor a new project have.

    Variable names are ignored: `/events/{id}` equals `/events/{eventId}`.
    """
    known = {_VARIABLE.sub("{}", path) for path in (*_MATCH.findall(_bare(ours)), _DOCUMENTS)}
    return {
        path
        for path in _MATCH.findall(_bare(theirs))
        if _VARIABLE.sub("{}", path) not in known and not _EVERYTHING.fullmatch(path)
    }


def paths_of(rules: str) -> list[str]:
    """Return the full document paths of the blocks in our rules. Indentation shows the nesting."""
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
    return _TEXT_OR_COMMENT.sub(
        lambda found: found[1] or (" " * len(found[0]) if keep_length else ""), rules
    )
