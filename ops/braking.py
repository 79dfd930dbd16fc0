"""The brake: one document, and while it is there guests neither upload nor list photos."""

import argparse
import sys
from collections.abc import Sequence
from typing import Final

from ops.cloud import Cloud, OpsError, Outside, say

OFF: Final = "return true; // the brake is off"
"""The line of firestore.rules that a project with a brake replaces."""
ON: Final = "return !exists(/databases/$(database)/documents/service/brake);"
_DOCUMENT: Final = "v1/projects/{project}/databases/(default)/documents/service/brake"


def main(arguments: Sequence[str] | None = None, outside: Outside | None = None) -> int:
    """Read the command line, close or open; the exit status."""
    parser = argparse.ArgumentParser(prog="ops/brake", description=__doc__)
    parser.add_argument("project", help="the project's id")
    parser.add_argument("what", choices=["close", "open"], help="uploads and lists of guests")
    given = parser.parse_args(arguments)
    outside = outside or Outside()
    if ON not in (outside.root / "firestore.rules").read_text():
        sys.stderr.write(
            f"firestore.rules has no brake: replace `{OFF}` there with `{ON}`, and deploy it.\n"
        )
        return 1
    cloud = Cloud(given.project, outside)
    path = _DOCUMENT.format(project=given.project)
    try:
        if given.what == "close":
            cloud.call("PATCH", "firestore", path, {"fields": {"by": {"stringValue": "ops/brake"}}})
            say("Guests can neither upload nor list photos.")
        else:
            cloud.call("DELETE", "firestore", path)
            say("Guests can upload and list photos.")
    except OpsError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0
